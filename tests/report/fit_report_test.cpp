// The page of a fit: its data are those of the file, whatever the file holds, and cannot end the page early.
#include "report/fit_report.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "nalm/model.hpp"
#include "report/page.hpp"
#include "words.hpp"

namespace nalm::fit_report_test {
namespace {

using nlohmann::json;

// fit_model.json is made by hand around energy = mass*speed^2/2 + 9.81*mass*height with a little noise;
// hostile_fit_model.json has markup in every text and something unexpected in every place.
std::string sample(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(NALM_SOURCE_DIR "/tests/report/" + name).rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

json data_of(const std::string& text) {
  const Result<std::string> data = fit_data(text, "model.json");
  EXPECT_TRUE(data.ok()) << complaint(data);
  return data ? json::parse(*data) : json();
}
json data_of_fit(const json& fit) { return data_of(json{{"format", "nalm-model"}, {"fit", fit}}.dump()); }

TEST(FitReport, ItsDataAreThoseOfTheFile) {
  const std::string text = sample("fit_model.json");
  ASSERT_TRUE(parse_model(text, "model").ok()) << "what the fit adds is ignored by other commands";
  const json file = json::parse(text), data = data_of(text);
  for (const char* name :
       {"target", "data", "version", "command", "verdict", "formula", "mathml", "latex", "found", "cut", "verified",
        "verification_error", "rows", "seconds", "errors", "constants", "agreement", "probe", "notes"})
    EXPECT_EQ(data[name], file["fit"][name]) << name;
  EXPECT_EQ(data["seed"], "18446744073709551615") << "a script would round it";
  EXPECT_EQ(data["columns"], file["columns"]);
  ASSERT_EQ(data["candidates"].size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) {
    const json &there = file["fit"]["candidates"][k], &here = data["candidates"][k];
    for (const char* name : {"formula", "mathml", "size", "agreeing", "chosen"}) EXPECT_EQ(here[name], there[name]);
    for (const char* set : {"train", "held_out", "outside"}) EXPECT_EQ(here["errors"][set], there[set]);
  }
  const json& points = file["fit"]["points"];
  for (const char* name : {"set", "target", "predicted"}) EXPECT_EQ(data["points"][name], points[name]) << name;
  ASSERT_EQ(data["points"]["inputs"].size(), 3u);
  for (const json& input : data["points"]["inputs"])
    EXPECT_EQ(input["values"], points["inputs"][input["name"].get<std::string>()]);
}

TEST(FitReport, DrawsAFormulaOfOneInputAsALineAndOneOfTwoAsAMap) {
  const json box = {{{"column", "x"}, {"low", 0}, {"high", 10}}, {{"column", "z"}, {"low", 1}, {"high", 2}}};
  const json line = data_of_fit({{"formula", "2*x"}, {"probe", {{"box", box}}}})["picture"];
  EXPECT_EQ(line["input"], "x");
  EXPECT_EQ(line["x"].front(), -1);
  EXPECT_EQ(line["x"].back(), 11);
  ASSERT_EQ(line["lines"].size(), 1u);
  EXPECT_EQ(line["lines"][0]["y"].back(), 22);
  EXPECT_TRUE(line["lines"][0]["low"].back().is_null()) << "nothing says how far rows scatter";
  const json map = data_of_fit({{"formula", "x*z"}, {"probe", {{"box", box}}}})["picture"];
  EXPECT_EQ(map["inputs"], (json{"x", "z"}));
  EXPECT_EQ(map["z"].size(), map["x"].size() * map["y"].size());
  EXPECT_NEAR(map["z"].back().get<double>(), 11 * 2.1, 1e-12);
  EXPECT_TRUE(data_of_fit({{"formula", "x*z*w"}, {"probe", {{"box", box}}}})["picture"].is_null());
}

TEST(FitReport, NullStandsForWhatIsNotFinite) {
  const json data = data_of(sample("fit_model.json"));
  EXPECT_TRUE(data["points"]["predicted"][3].is_null());
  EXPECT_TRUE(data["points"]["target"][3].is_number());
  const json errors =
      data_of_fit({{"errors", {{"train", {{"rows", 3}, {"rmse", nullptr}, {"relative", 0.5}}}}}})["errors"];
  EXPECT_EQ(errors["train"], (json{{"rows", 3}, {"rmse", nullptr}, {"relative", 0.5}, {"largest", nullptr}}));
  EXPECT_TRUE(errors["outside"].is_null());
}

TEST(FitReport, OnlyInputsOfTheFormulaAreShown) {
  json fit{
      {"formula", "\"a b\"*c"},
      {"points",
       {{"set", {"train"}}, {"target", {1}}, {"predicted", {1}}, {"inputs", {{"a b", {1}}, {"b", {2}}, {"c", {3}}}}}}};
  const auto names = [](const json& data) {
    std::vector<std::string> list;
    for (const json& input : data["points"]["inputs"]) list.push_back(input["name"]);
    return list;
  };
  EXPECT_EQ(names(data_of_fit(fit)), (std::vector<std::string>{"a b", "c"}));
  // A formula that cannot be read: those that were probed, or all.
  fit["formula"] = "b +";
  EXPECT_EQ(names(data_of_fit(fit)), (std::vector<std::string>{"a b", "b", "c"}));
  fit["probe"]["box"] = {{{"column", "b"}}};
  EXPECT_EQ(names(data_of_fit(fit)), (std::vector<std::string>{"b"}));
}

TEST(FitReport, ManyPointsAreThinnedAndUnknownSetsLeftOut) {
  json points{{"set", json::array()}, {"target", json::array()}, {"predicted", json::array()}};
  for (int k = 0; k < 5001; ++k) {
    points["set"].push_back(k % 5000 ? "outside" : "nonsense");
    points["target"].push_back(k);
  }
  const json data = data_of_fit({{"points", points}})["points"];
  ASSERT_EQ(data["set"].size(), 1667u);  // every third of 4999
  EXPECT_EQ(data["target"][0], 1);
  EXPECT_EQ(data["target"][1], 4);
  EXPECT_EQ(data["target"].back(), 4999);
  EXPECT_TRUE(data["predicted"][7].is_null());
}

TEST(FitReport, ParametersBecomeMatrices) {
  const json layers = data_of(sample("fit_model.json"))["layers"];
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0]["module"], "RealNPU");
  const json &weights = layers[0]["parameters"][0], &gate = layers[0]["parameters"][1];
  EXPECT_EQ(weights["name"], "W_re");
  EXPECT_EQ(weights["rows"], "input");
  EXPECT_EQ(weights["columns"], "output");
  EXPECT_EQ(weights["values"], (json{{1, 1}, {2, 0}, {0, 1}}));
  // One number per input: a column.
  EXPECT_EQ(gate["rows"], "input");
  EXPECT_EQ(gate["columns"], "");
  EXPECT_EQ(gate["values"], (json{{1}, {1}, {1}}));

  const json odd = data_of(sample("hostile_fit_model.json"))["layers"];
  ASSERT_EQ(odd.size(), 2u);
  ASSERT_EQ(odd[0]["parameters"].size(), 2u);  // neither the text nor the ragged list
  EXPECT_EQ(odd[0]["parameters"][0]["values"], (json{{1}, {-0.5}, {nullptr}}));
  EXPECT_EQ(odd[0]["parameters"][1]["values"], (json::array({{1, 2, 3}})));
  // NSR with two comparisons: a matrix each, and biases by comparison.
  ASSERT_EQ(odd[1]["parameters"].size(), 3u);
  EXPECT_EQ(odd[1]["parameters"][1]["name"], "V1, comparison 2");
  EXPECT_EQ(odd[1]["parameters"][1]["columns"], "path");
  EXPECT_EQ(odd[1]["parameters"][2]["rows"], "comparison");

  json model{{"format", "nalm-model"}, {"fit", json::object()}};
  model["layers"] = {{{"module", "NAU"}, {"parameters", {{"W", json(100, json(100, 0.5))}}}}};
  const json large = data_of(model.dump())["layers"][0]["parameters"][0];
  EXPECT_TRUE(large["values"].is_null());
  EXPECT_EQ(large["height"], 100);
}

TEST(FitReport, NothingInItsDataEndsThePage) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const Result<std::string> page = fit_page(sample("hostile_fit_model.json"), "<b>model.json");
  ASSERT_TRUE(page.ok()) << complaint(page);
  const std::string start = "id=\"nalm-data\">";
  const std::size_t first = page->find(start) + start.size();
  const std::string text = page->substr(first, page->find("</script", first) - first);
  EXPECT_FALSE(contains(text, "<"));
  const json data = json::parse(text);
  EXPECT_EQ(data["target"], "<img src=x onerror=\"alert(1)\">");
  EXPECT_EQ(data["source"], "<b>model.json");
  EXPECT_FALSE(contains(*page, "<img src=x"));
  EXPECT_FALSE(contains(*page, "<script>alert"));
  EXPECT_TRUE(contains(*page, "<title>nalm: a formula for &lt;img src=x"));
}

// Every entry of the sample replaced by something else in turn: the types of what the script reads stay the same.
TEST(FitReport, EntriesThatAreMissingOrMistypedChangeNoTypes) {
  const json file = json::parse(sample("fit_model.json"));
  const auto is_kind = [](const json& value, const json& like) {
    return value.type() == like.type() || value.is_null() || (value.is_number() && like.is_number());
  };
  const json reference = data_of(file.dump());
  for (const json& other : {json(), json(1e300), json("text"), json::array({1, "a", nullptr, json::object()}),
                            json{{"a", 1}}, json(true), json::array({json::array()})}) {
    for (const char* part : {"fit", "layers", "columns", "constants", "formula"}) {
      json changed = file;
      changed[part] = other;
      const Result<std::string> data = fit_data(changed.dump(), "model.json");
      EXPECT_EQ(data.ok(), std::string(part) != "fit" || other.is_object()) << part << " = " << other;
    }
    for (const auto& [name, value] : file["fit"].items()) {
      for (const bool nested : {false, true}) {
        json changed = file;
        json& place = changed["fit"][name];
        if (nested && place.is_object()) {
          for (auto& [key, inner] : place.items()) inner = other;
        } else if (nested && place.is_array()) {
          place[0] = other;
        } else {
          place = other;
        }
        SCOPED_TRACE(name + " = " + other.dump());
        const json data = data_of(changed.dump());
        ASSERT_EQ(data.size(), reference.size());
        for (const auto& [key, like] : reference.items()) EXPECT_TRUE(is_kind(data[key], like)) << key;
      }
    }
    json without = file;
    without["fit"] = json::object();
    const json data = data_of(without.dump());
    EXPECT_EQ(data["formula"], file["formula"]);
    EXPECT_TRUE(data["points"].is_null());
    EXPECT_EQ(data["candidates"], json::array());
  }
}

TEST(FitReport, OtherFilesGetOneSentence) {
  const auto refused = [](std::string_view text) {
    const Result<std::string> page = fit_page(text, "file");
    EXPECT_FALSE(page.ok());
    EXPECT_TRUE(complaint(page).starts_with("file: ")) << complaint(page);
    EXPECT_TRUE(complaint(page).ends_with(".")) << complaint(page);
    return complaint(page);
  };
  EXPECT_TRUE(contains(refused(R"({"format":"nalm-model","version":1,"layers":[]})"), "no fit to report"));
  EXPECT_TRUE(contains(refused(R"({"format":"nalm-model","fit":[]})"), "no fit to report"));
  EXPECT_TRUE(contains(refused(R"({"fit":{}})"), "not a model file"));
  EXPECT_TRUE(contains(refused("[1, 2]"), "not a model file"));
  EXPECT_TRUE(contains(refused("a,b\n1,2\n"), "not valid JSON"));
  EXPECT_TRUE(contains(refused(""), "truncated"));
  EXPECT_TRUE(contains(refused(R"({"format":"nalm-model","fit":{)"), "truncated"));
  EXPECT_TRUE(contains(refused(R"({"format":"nalm-model","fit":{"rows":1e999}})"), "out of range"));
  EXPECT_TRUE(contains(refused("{\"format\":\"nalm-model\",\"fit\":{\"target\":\"\xff\"}}"), "not valid JSON"));
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_TRUE(contains(refused("{\"format\":\"nalm-model\",\"fit\":{\"notes\":" + deep + "}}"), "nested"));
  refused(std::string(100000, '['));
}

}  // namespace
}  // namespace nalm::fit_report_test
