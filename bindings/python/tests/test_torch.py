"""The modules as layers of PyTorch."""

import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import nalm
import nalm.torch as nt

EVERY = list(nalm.modules)


def made(name, inputs=3, outputs=2, dtype=torch.float64):
    torch.manual_seed(1)
    layer = nt.layer(name, inputs, outputs, dtype=dtype)
    layer.noise = False
    return layer


def inputs_for(layer, rows=5):
    # Away from kinks; truth values lie between 0 and 1.
    random = np.random.default_rng(3)
    low, high = (0.2, 0.8) if layer.module.truth_values else (1.2, 2.2)
    return torch.tensor(random.uniform(low, high, (rows, layer.inputs)), requires_grad=True)


def away_from_kinks(layer):
    with torch.no_grad():
        random = np.random.default_rng(7)
        for p in layer.parameters():
            p.copy_(torch.tensor(random.uniform(0.15, 0.45, tuple(p.shape))))


@pytest.mark.parametrize("name", EVERY)
def test_gradcheck(name):
    layer = made(name)
    away_from_kinks(layer)
    own = [p.detach().clone().requires_grad_() for p in layer.parameters()]
    names = [n for n, _ in layer.named_parameters()]
    x = inputs_for(layer)

    def function(rows, *values):
        return nt._Apply.apply(layer, None, rows, *values)

    assert torch.autograd.gradcheck(function, (x, *own), eps=1e-6, atol=1e-5, rtol=1e-4), names


@pytest.mark.parametrize("name", EVERY)
def test_evaluates_as_the_library_does(name):
    layer = made(name).eval()
    x = inputs_for(layer, rows=37)
    model = layer.to_model()
    assert np.allclose(layer(x).detach().numpy(), model.predict(x.detach().numpy()), rtol=1e-12, atol=0, equal_nan=True)
    again = nt.layer(name, 3, 2, dtype=torch.float64).from_model(model)
    assert torch.equal(again.eval()(x), layer(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_learns_in_a_network_with_any_optimiser(dtype):
    torch.manual_seed(0)
    network = torch.nn.Sequential(nt.NAU(4, 2, dtype=dtype), nt.NMU(2, 1, dtype=dtype))
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    first = last = None
    for step in range(300):
        x = torch.rand(64, 4, dtype=dtype) + 1
        loss = ((network(x) - (x[:, :1] + x[:, 1:2]) * x[:, 2:3]) ** 2).mean()
        optimiser.zero_grad()
        (loss + sum(layer.regularisation(step) for layer in network)).backward()
        optimiser.step()
        for layer in network:
            layer.clamp_()
        first, last = first if first is not None else float(loss), float(loss)
    assert last < first / 5


def test_forms():
    layer = nt.NMU(3, 1)
    with torch.no_grad():
        layer.W.copy_(torch.tensor([[1.0], [0.0], [1.0]]))
    assert str(layer.formula(["a", "b", "c"])) == "a*c"
    assert layer.sparsity_error() == 0
    assert layer(torch.tensor([[[2.0, 9.0, 3.0]]])).tolist() == [[[6.0]]]
    assert nt.NACAdd(2, 1).module.name == "NAC+" and nt.sNMU_batch(2, 1).module.name == "sNMU-batch"
    other = nt.NMU(3, 1)
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other.W, layer.W)


def test_model_files(tmp_path):
    network = torch.nn.Sequential(nt.NAU(4, 2, dtype=torch.float64), nt.NMU(2, 1, dtype=torch.float64))
    nt.to_model(network).save(tmp_path / "model.json")
    model = nalm.Model.load(tmp_path / "model.json")
    x = torch.rand(9, 4, dtype=torch.float64)
    assert np.allclose(model.predict(x.numpy()), network.eval()(x).detach().numpy(), rtol=1e-12)
    with pytest.raises(nalm.Error, match="no layer of nalm"):
        nt.to_model(torch.nn.Sequential(nt.NAU(2, 1), torch.nn.ReLU()))


def test_regularisation_is_the_recipes():
    layer = nt.NMU(2, 1, dtype=torch.float64)
    with torch.no_grad():
        layer.W.copy_(torch.tensor([[0.25], [0.9]]))
    (habit,) = layer.module.recipe["regularisers"]
    expected = habit["strength"] * (0.25 + 0.1) / 2
    assert float(layer.regularisation()) == pytest.approx(expected)
    assert float(layer.regularisation(0)) == 0
    middle = (habit["start"] + habit["end"]) // 2
    assert float(layer.regularisation(int(middle))) == pytest.approx(expected / 2)


def test_noise_is_for_training():
    layer = nt.sNMU(2, 1)
    x = torch.rand(50, 2) + 1
    with torch.no_grad():
        layer.W.fill_(0.5)
        noisy, again, calm = layer(x), layer(x), layer.eval()(x)
    assert not torch.equal(noisy, again)
    assert torch.equal(calm, layer(x))


def test_threads():
    layer = made("NMU", 10, 4)
    x = torch.rand(200, 10, dtype=torch.float64)
    expected = layer(x).detach()
    different = []

    def work():
        for _ in range(20):
            if not torch.equal(layer(x).detach(), expected):
                different.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not different


def test_what_is_wrong_is_said():
    layer = nt.NAU(3, 1)
    with pytest.raises(nalm.Error, match="torch.float64 and the layer torch.float32"):
        layer(torch.ones(2, 3, dtype=torch.float64))
    with pytest.raises(nalm.Error, match="last dimension of the input must be 3"):
        layer(torch.ones(2, 4))
    with pytest.raises(nalm.Error, match="device meta"):
        layer(torch.ones(2, 3, device="meta"))
    with pytest.raises(nalm.Error, match="no tensor"):
        layer([[1.0, 2.0, 3.0]])
    with pytest.raises(nalm.Error, match="float32 or float64"):
        nt.NAU(3, 1, dtype=torch.float16)
    with pytest.raises(nalm.Error, match="NOPE"):
        nt.layer("NOPE", 1, 1)


def test_double_backward_is_an_error():
    layer = made("NMU")
    x = inputs_for(layer)
    for loss in (layer(x).sum(), (layer(x) ** 2).sum()):
        with pytest.raises(RuntimeError, match="NMU has no second derivative"):
            torch.autograd.grad(loss, x, create_graph=True)


def test_strided_tensors_are_copied():
    layer = made("NAU")
    x = torch.rand(3, 6, dtype=torch.float64).t()
    assert not x.is_contiguous()
    assert torch.equal(layer(x), layer(x.contiguous()))
