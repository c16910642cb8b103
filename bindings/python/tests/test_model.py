"""Models and trainings."""

import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import write_csv

import nalm


def nau():
    model = nalm.Model("NAU:1", inputs=2)
    model.set_parameters(0, W=[[1.0], [-1.0]])
    return model


def test_a_model_spells_its_formula():
    model = nau()
    assert repr(model.formula()) == "y = x1 - x2"
    assert str(model.formula(["length", "width"])) == "length - width"
    assert model.sparsity_error() == 0
    assert model.predict([[5.0, 3.0], [1.0, 4.0]]).tolist() == [[2.0], [-3.0]]
    (layer,) = model.explain([5.0, 3.0])
    assert layer["module"] == "NAU" and layer["outputs"].tolist() == [2.0]


def test_files_are_the_programs(program, tmp_path):
    model = nalm.Model("NALU:2,NMU:1", inputs=3, seed=4)
    path = tmp_path / "model.json"
    model.save(path)
    assert nalm.Model.load(path).to_json() == model.to_json() == pickle.loads(pickle.dumps(model)).to_json()
    rows = np.random.default_rng(1).uniform(-2, 2, (7, 3))
    data = write_csv(tmp_path / "rows.csv", {f"x{k + 1}": rows[:, k] for k in range(3)})
    for precision in ("float", "double"):
        text = subprocess.run([program, "eval", path, data, "--precision", precision], capture_output=True, text=True,
                              check=True).stdout
        assert [float(line) for line in text.splitlines()[1:]] == pytest.approx(
            model.predict(rows, precision).ravel().tolist(), rel=1e-8 if precision == "float" else 0, abs=0)


def test_gradients_are_those_of_differences():
    model = nalm.Model("NALU:2,NMU:1", inputs=3, seed=4)
    random = np.random.default_rng(2)
    x, t = random.uniform(1, 2, (5, 3)), random.uniform(1, 2, (5, 1))
    mse, layers, inputs = model.gradients(x, t)
    assert mse == pytest.approx(np.mean((model.predict(x) - t) ** 2))

    def error(rows):
        return np.mean((model.predict(rows) - t) ** 2)

    step = 1e-6
    for place in [(0, 0), (3, 2), (4, 1)]:
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        assert inputs[place] == pytest.approx((error(up) - error(down)) / (2 * step), rel=1e-5, abs=1e-8)
    w = model.parameters[1]["W"]
    up, down = w.copy(), w.copy()
    up[0, 0] += step
    down[0, 0] -= step
    model.set_parameters(1, W=up)
    above = error(x)
    model.set_parameters(1, W=down)
    assert layers[1]["W"][0, 0] == pytest.approx((above - error(x)) / (2 * step), rel=1e-5)


def test_rows_by_name():
    model = nau()
    model.columns = ["a", "b"]
    assert model.predict({"b": [3.0], "c": [9.0], "a": [5.0]}).tolist() == [[2.0]]
    with pytest.raises(nalm.Error, match='no column "b"'):
        model.predict({"a": [1.0]})


def test_wrong_models():
    for stack, message in (("NOPE:1", "NOPE"), ("NSR:1", "outputs"), ("NAU", "NAU")):
        with pytest.raises(nalm.Error, match=message):
            nalm.Model(stack, inputs=2)
    with pytest.raises(nalm.Error):
        nalm.Model.from_json("{}")
    with pytest.raises(nalm.Error, match="columns"):
        nau().predict(np.ones((3, 3)))
    with pytest.raises(nalm.Error, match="shape"):
        nau().predict(np.ones(3))
    with pytest.raises(nalm.Error, match="has the shape"):
        nau().set_parameters(0, W=[1.0])


def batches(run, iteration):
    random = np.random.default_rng([run, iteration])
    x = random.uniform(1, 2, (128, 2))
    return x, x[:, 0] - x[:, 1]


FAST = {"optimiser": {"learning_rate": 0.01}, "regularisers": []}


def test_trains_on_batches_of_ones_own():
    seen = []
    trainer = nalm.Trainer("NAU:1", inputs=2, seeds=[1, 2, 3], recipe=FAST)
    trainer.train(batches, iterations=1500, progress=seen.append, every=500)
    assert trainer.runs == 3 and trainer.iteration == 1500 and seen
    for model in trainer.models:
        assert np.abs(model.parameters[0]["W"].ravel() - [1, -1]).max() < 1e-2


def test_trains_on_arrays_and_goes_on_from_checkpoints(tmp_path):
    random = np.random.default_rng(1)
    x = random.uniform(1, 2, (200, 2))
    t = x[:, 0] * x[:, 1]

    def begin():
        return nalm.Trainer("NMU:1", inputs=2, seeds=[5, 6], recipe={"optimiser": {"learning_rate": 0.01}})

    whole = begin().train(x, t, iterations=400, seed=3)
    half = begin().train(x, t, iterations=200, seed=3)
    half.save(tmp_path / "half.json")
    rest = nalm.Trainer.load(tmp_path / "half.json", threads=1).train(x, t, iterations=200, seed=3)
    for run in range(2):
        assert rest.model(run).to_json() == whole.model(run).to_json()
    assert pickle.loads(pickle.dumps(rest)).model(0).to_json() == rest.model(0).to_json()


def test_wrong_trainings():
    def trainer():
        return nalm.Trainer("NAU:1", inputs=2)

    with pytest.raises(ZeroDivisionError):
        trainer().train(lambda run, iteration: 1 / 0, iterations=1)
    with pytest.raises(nalm.Error, match="a batch has"):
        trainer().train(lambda run, iteration: (np.ones((3, 2)), np.ones((3, 1))), iterations=1)
    with pytest.raises(nalm.Error, match="3 columns"):
        trainer().train(np.ones((4, 3)), np.ones(4), iterations=1)
    with pytest.raises(nalm.Error, match="not finite"):
        trainer().train(np.full((4, 2), np.nan), np.ones(4), iterations=1)
    with pytest.raises(nalm.Error, match="learning_speed"):
        nalm.Trainer("NAU:1", inputs=2, recipe={"learning_speed": 1})

    def raises(iteration):
        raise KeyError("enough")

    stopped = trainer()
    with pytest.raises(KeyError, match="enough"):
        stopped.train(batches, iterations=5000, progress=raises, every=10)
    assert stopped.iteration < 5000
