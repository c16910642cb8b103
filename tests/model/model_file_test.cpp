// Model files: the format, what damaged files are told, and saving that never loses a model.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::model_file_test {
namespace {

namespace fs = std::filesystem;

const std::string nalu_layer =
    R"({"module":"NALU","inputs":3,"outputs":2,"options":{},"parameters":{"W_hat":[[1,2],[3,4],[5,6]],)"
    R"("M_hat":[[7,8],[9,10],[11,12]],"G":[[13,14],[15,16],[17,18]]}})";

std::string file_of(const std::string& layers, const std::string& more = "") {
  return R"({"format":"nalm-model","version":1,)" + more + R"("layers":[)" + layers + "]}";
}

std::string nau_layer(const std::string& W, const std::string& more = "") {
  return R"({"module":"NAU","inputs":2,"outputs":1,)" + more + R"("parameters":{"W":)" + W + "}}";
}

Model model_of(const std::string& text) {
  const Result<Model> model = parse_model(text, "m.json");
  EXPECT_TRUE(model.ok()) << model.error().message;
  return model.ok() ? *model : Model{};
}

// Damaged files get one sentence that begins with the name of the file.
std::string error_of(const std::string& text) {
  const Result<Model> model = parse_model(text, "m.json");
  EXPECT_FALSE(model.ok()) << text;
  const std::string message = model.ok() ? "" : model.error().message;
  EXPECT_TRUE(message.starts_with("m.json: ") && (message.ends_with(".") || message.ends_with("?"))) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

// ---- reading -------------------------------------------------------------------------------------------------------

TEST(ModelFile, FirstIndexIsTheInputSecondTheOutput) {
  const Model model = model_of(file_of(nalu_layer));
  ASSERT_EQ(model.layers.size(), 1U);
  EXPECT_EQ(model.layers[0].module->name, "NALU");
  EXPECT_EQ(model.layers[0].shape, (LayerShape{3, 2, {}}));
  std::vector<double> numbers;
  for (int k = 1; k <= 18; ++k) numbers.push_back(k);
  EXPECT_EQ(model.layers[0].parameters, numbers);
}

TEST(ModelFile, IsWrittenAsDescribed) {
  const nlohmann::json json = nlohmann::json::parse(to_json(model_of(file_of(nalu_layer))));
  EXPECT_EQ(json, nlohmann::json::parse(file_of(nalu_layer)));
}

TEST(ModelFile, OptionsMayBeLeftOutAndOtherEntriesAreIgnored) {
  EXPECT_EQ(model_of(file_of(nau_layer("[[1],[-1]]"), R"("author":"me",)")).layers[0].parameters,
            (std::vector<double>{1, -1}));
}

TEST(ModelFile, ColumnsNameTheInputs) {
  const Model model = model_of(file_of(nau_layer("[[1],[-1]]"), R"("columns":["unit price","b"],)"));
  EXPECT_EQ(model.columns, (std::vector<std::string>{"unit price", "b"}));
  EXPECT_EQ(model_of(to_json(model)).columns, model.columns);
}

TEST(ModelFile, LayersAreConnected) {
  const std::string second = R"({"module":"NMU","inputs":1,"outputs":1,"parameters":{"W":[[1]]}})";
  EXPECT_EQ(model_of(file_of(nau_layer("[[1],[1]]") + "," + second)).layers.size(), 2U);
  EXPECT_EQ(error_of(file_of(nalu_layer + "," + second)), "m.json: layer 2 has 1 inputs, but layer 1 gives 2 outputs.");
}

// ---- damaged files -------------------------------------------------------------------------------------------------

TEST(ModelFile, EveryTruncationIsRecognised) {
  const std::string text = to_json(model_of(file_of(nalu_layer, R"("columns":["a\u00e4","b","c d"],)")));
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {  // the last character is a newline
    if (text[size] == '\n') continue;
    EXPECT_EQ(error_of(text.substr(0, size)), "m.json: the file ends in the middle; it seems to be truncated.") << size;
  }
}

TEST(ModelFile, TextThatIsNotJsonSaysWhere) {
  EXPECT_EQ(error_of("hello"), "m.json: this is not valid JSON near byte 1.");
  EXPECT_EQ(error_of(R"({"format":nan})"), "m.json: this is not valid JSON near byte 12.");
  EXPECT_EQ(error_of(file_of(nau_layer("[[NaN],[1]]"))).substr(0, 43), "m.json: this is not valid JSON near byte 10");
  error_of(file_of(nau_layer("[[1e999],[1]]")));
  error_of(std::string("\xff\xfe\0\0", 4));
}

TEST(ModelFile, OtherJsonIsNotAModel) {
  const std::string message =
      "m.json: this is not a model file; it should begin with {\"format\":\"nalm-model\",\"version\":1,...}.";
  for (const char* text : {"[]", "{}", "3", "null", R"({"format":"other"})", R"({"format":["nalm-model"]})"}) {
    EXPECT_EQ(error_of(text), message);
  }
}

TEST(ModelFile, OtherVersionsAreNamed) {
  EXPECT_EQ(error_of(R"({"format":"nalm-model","version":2,"layers":[]})"),
            "m.json: the file has version 2, but this program reads version 1.");
  EXPECT_EQ(error_of(R"({"format":"nalm-model"})"), "m.json: \"version\" should be the number 1.");
}

TEST(ModelFile, LayersMustBeAListOfObjects) {
  const std::string message = "m.json: \"layers\" should be a list with at least one layer.";
  EXPECT_EQ(error_of(file_of("")), message);
  EXPECT_EQ(error_of(R"({"format":"nalm-model","version":1})"), message);
  EXPECT_EQ(error_of(R"({"format":"nalm-model","version":1,"layers":{}})"), message);
  EXPECT_EQ(error_of(file_of("7")), "m.json: layer 1: should be an object, not a number.");
  EXPECT_EQ(error_of(file_of("{}")), "m.json: layer 1: \"module\" should name a module.");
}

TEST(ModelFile, UnknownModulesListTheKnownOnes) {
  const std::string message = error_of(file_of(R"({"module":"NUA"})"));
  EXPECT_TRUE(message.starts_with("m.json: layer 1: \"NUA\" is not a module; the modules are ")) << message;
}

TEST(ModelFile, WrongSizesSayWhere) {
  EXPECT_EQ(error_of(file_of(R"({"module":"NAU","outputs":1})")), "m.json: layer 1 (NAU): \"inputs\" is missing.");
  for (const char* size : {"0", "-1", "1.5", "\"2\"", "1e300", "99999999999999999999", "true"}) {
    EXPECT_EQ(error_of(file_of(std::string(R"({"module":"NAU","inputs":)") + size + R"(,"outputs":1})")),
              "m.json: layer 1 (NAU): \"inputs\" should be a whole number from 1 to 1e6.");
  }
}

TEST(ModelFile, WrongShapesNameTheEntry) {
  const auto message = [](const std::string& W) { return error_of(file_of(nau_layer(W))); };
  EXPECT_EQ(message("[[1]]"), "m.json: layer 1 (NAU): W has 1 entries, but 2 are needed.");
  EXPECT_EQ(message("[[1],[2],[3]]"), "m.json: layer 1 (NAU): W has 3 entries, but 2 are needed.");
  EXPECT_EQ(message("[[1],[2,3]]"), "m.json: layer 1 (NAU): W[1] has 2 entries, but 1 are needed.");
  EXPECT_EQ(message("[1,2]"), "m.json: layer 1 (NAU): W[0] should be a list of 1 entries, not a number.");
  EXPECT_EQ(message("[[1],[\"x\"]]"), "m.json: layer 1 (NAU): W[1][0] should be a number, not text.");
  EXPECT_EQ(message("[[1],[null]]"), "m.json: layer 1 (NAU): W[1][0] should be a number, not null.");
  EXPECT_EQ(message("[[1],[[2]]]"), "m.json: layer 1 (NAU): W[1][0] should be a number, not a list.");
  EXPECT_EQ(message("{}"), "m.json: layer 1 (NAU): W should be a list of 2 entries, not an object.");
}

TEST(ModelFile, MissingAndUnknownParametersAreNamed) {
  const std::string head = R"({"module":"RealNPU","inputs":1,"outputs":1,"parameters":)";
  EXPECT_EQ(error_of(file_of(head + R"({"W_re":[[1]]}})")), "m.json: layer 1 (RealNPU): parameter \"g\" is missing.");
  EXPECT_EQ(error_of(file_of(head + R"({"W_re":[[1]],"g":[1],"W_im":[[0]]}})")),
            "m.json: layer 1 (RealNPU): parameter \"W_im\" is unknown here; the parameters are W_re, g.");
  EXPECT_EQ(error_of(file_of(head + "[]}")),
            "m.json: layer 1 (RealNPU): \"parameters\" should be an object with one entry per parameter.");
}

TEST(ModelFile, WrongOptionsAreNamed) {
  EXPECT_EQ(error_of(file_of(nau_layer("[[1],[1]]", R"("options":{"lambda":1},)"))),
            "m.json: layer 1 (NAU): NAU has no options; remove \"lambda\".");
  EXPECT_EQ(error_of(file_of(nau_layer("[[1],[1]]", R"("options":[],)"))),
            "m.json: layer 1 (NAU): \"options\" should be an object.");
  const auto nsr = [](const std::string& options) {
    return error_of(
        file_of(R"({"module":"NSR","inputs":1,"outputs":2,"options":{)" + options + R"(},"parameters":{}})"));
  };
  EXPECT_EQ(nsr(R"("redundancy":0.5)"),
            "m.json: layer 1 (NSR): NSR: option \"redundancy\" must be a whole number from 1 to 1e6, not 0.5.");
  EXPECT_EQ(nsr(R"("lambda":null)"), "m.json: layer 1 (NSR): option \"lambda\" should be a number or text, not null.");
}

TEST(ModelFile, DeepNestingIsRefused) {
  const std::string message = "m.json: the file has brackets nested more than 64 deep, which nothing here needs.";
  EXPECT_EQ(error_of(std::string(1000000, '[')), message);
  std::string objects;
  for (int k = 0; k < 100000; ++k) objects += "{\"a\":";
  EXPECT_EQ(error_of(objects), message);
  // Brackets in text do not count.
  model_of(file_of(nau_layer("[[1],[1]]"), R"("note":")" + std::string(100, '[') + R"(\"[[",)"));
}

TEST(ModelFile, ColumnsMustFitTheInputs) {
  EXPECT_EQ(error_of(file_of(nau_layer("[[1],[1]]"), R"("columns":["a"],)")),
            "m.json: \"columns\" should list the names of the 2 inputs.");
  EXPECT_EQ(error_of(file_of(nau_layer("[[1],[1]]"), R"("columns":["a",3],)")),
            "m.json: \"columns\" should contain only text.");
}

// evaluate() needs names that are all different.
TEST(ModelFile, ColumnsMustDiffer) { error_of(file_of(nau_layer("[[1],[1]]"), R"("columns":["a","a"],)")); }

// ---- options that the parameters tell ------------------------------------------------------------------------------

TEST(ModelFile, PathsOfNsrAreReadOffItsParameters) {
  const std::string one = R"({"module":"NSR","inputs":2,"outputs":2,"parameters":{"V1":[[1,2,3],[4,5,6]],)"
                          R"("V2":[[1,2,3],[4,5,6]],"w_sign":[[1],[2],[3]],"w_zero":[[4],[5],[6]],"b":[7]}})";
  const Model model = model_of(file_of(one));
  EXPECT_EQ(model.layers[0].shape.options[1], 3);
  EXPECT_EQ(model.layers[0].parameters.size(), 19U);
  const std::string stated = "m.json: layer 1 (NSR): V1[0] has 3 entries, but 2 are needed.";
  EXPECT_EQ(error_of(file_of(R"({"options":{"redundancy":2},)" + one.substr(1))), stated);
}

TEST(ModelFile, SeveralComparisonsHaveALeadingIndex) {
  const std::string two =
      R"({"module":"NSR","inputs":2,"outputs":4,"parameters":{"V1":[[[1],[2]],[[3],[4]]],)"
      R"("V2":[[[5],[6]],[[7],[8]]],"w_sign":[[[9]],[[10]]],"w_zero":[[[11]],[[12]]],"b":[[13],[14]]}})";
  const Model model = model_of(file_of(two));
  EXPECT_EQ(model.layers[0].shape.options[1], 1);
  std::vector<double> numbers;
  for (int k = 1; k <= 14; ++k) numbers.push_back(k);
  EXPECT_EQ(model.layers[0].parameters, numbers);
  EXPECT_EQ(nlohmann::json::parse(to_json(model))["layers"][0]["parameters"], nlohmann::json::parse(two)["parameters"]);
}

TEST(ModelFile, OutputNegationOfNlrlIsReadOffItsParameters) {
  const std::string head = R"({"module":"NLRL","inputs":1,"outputs":1,)";
  const std::string parameters = R"("parameters":{"G_neg":[[1]],"A_hat":[[2]],"G_out":[3],"G_out_neg":[4]}})";
  EXPECT_EQ(model_of(file_of(head + parameters)).layers[0].shape.options, (std::array<double, 4>{0, 0, 1}));
  EXPECT_EQ(error_of(file_of(head + R"("options":{"output_negation":"no"},)" + parameters)),
            "m.json: layer 1 (NLRL): parameter \"G_out_neg\" is unknown here; the parameters are G_neg, A_hat, G_out.");
  EXPECT_EQ(model_of(file_of(head + R"("options":{"form":"and"},"parameters":{"G_neg":[[1]],"A_hat":[[2]]}})"))
                .layers[0]
                .shape.options[0],
            1);
}

// ---- there and back ------------------------------------------------------------------------------------------------

double random_finite(std::mt19937_64& random, bool is_float) {
  while (true) {
    const double value = is_float ? std::bit_cast<float>(static_cast<std::uint32_t>(random()))
                                  : std::bit_cast<double>(static_cast<std::uint64_t>(random()));
    if (std::isfinite(value)) return value;
  }
}

TEST(ModelFile, EveryModuleComesBackInEveryBit) {
  std::mt19937_64 random(7);
  for (const ModuleInfo* module : all_modules()) {
    for (int round = 0; round < 20; ++round) {
      Layer layer{module, default_shape(*module, 1 + round % 3, 2), {}};
      const int count = parameter_count(*module, layer.shape);
      for (int k = 0; k < count; ++k) layer.parameters.push_back(random_finite(random, round % 2 == 0));
      const Model model{{layer}, {}}, again = model_of(to_json(model));
      ASSERT_EQ(again.layers.size(), 1U) << module->name;
      EXPECT_EQ(again.layers[0].module, module);
      EXPECT_EQ(again.layers[0].shape, layer.shape) << module->name;
      EXPECT_TRUE(same_bits(again.layers[0].parameters, layer.parameters)) << to_json(model);
    }
  }
}

TEST(ModelFile, SpecialNumbersComeBackInEveryBit) {
  const std::vector<double> values = {-0.0, 5e-324, 1.7976931348623157e308, 0.1, 1e23, 1.0 / 3};
  const Model model{{{*find_module("NAU"), {6, 1, {}}, values}}, {}};
  EXPECT_TRUE(same_bits(model_of(to_json(model)).layers[0].parameters, values)) << to_json(model);
}

// ---- saving --------------------------------------------------------------------------------------------------------

class SavedModel : public testing::Test {
 protected:
  SavedModel() {
    std::string pattern = (fs::temp_directory_path() / "nalm-model-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SavedModel() override { fs::remove_all(folder_); }

  static Model model(double weight) { return {{{*find_module("NAU"), {1, 1, {}}, {weight}}}, {}}; }

  std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  // The files in the folder, so that nothing is left behind unseen.
  std::size_t files() { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

TEST_F(SavedModel, IsReadBack) {
  const std::string path = folder_ / "model.json";
  ASSERT_TRUE(save_model(model(0.25), path).ok());
  ASSERT_TRUE(save_model(model(0.5), path).ok());
  EXPECT_EQ(load_model(path)->layers[0].parameters, std::vector<double>{0.5});
  EXPECT_EQ(files(), 1U);
}

TEST_F(SavedModel, MissingFilesAndFoldersAreNamed) {
  const std::string missing = folder_ / "none.json";
  EXPECT_EQ(load_model(missing).error().message, missing + ": the file cannot be read (No such file or directory).");
  EXPECT_EQ(load_model(folder_).error().message, folder_.string() + ": this is a folder, not a model file.");
}

TEST_F(SavedModel, FolderMustExist) {
  const std::string path = folder_ / "none" / "model.json";
  EXPECT_EQ(save_model(model(1), path).error().message,
            path + ": the file cannot be written (No such file or directory); nothing was changed.");
  EXPECT_EQ(files(), 0U);
}

TEST_F(SavedModel, FolderInPlaceOfTheFileIsLeftAlone) {
  const fs::path path = folder_ / "model.json";
  fs::create_directory(path);
  std::ofstream(path / "inside") << "x";
  EXPECT_FALSE(save_model(model(1), path).ok());
  EXPECT_TRUE(fs::exists(path / "inside"));
  EXPECT_EQ(files(), 1U);
}

TEST_F(SavedModel, ParametersThatAreNotFiniteAreRefused) {
  const std::string path = folder_ / "model.json";
  ASSERT_TRUE(save_model(model(0.25), path).ok());
  const std::string before = text_of(path);
  EXPECT_EQ(save_model(model(std::nan("")), path).error().message,
            path + ": not written, because a parameter of NAU is not finite.");
  EXPECT_FALSE(save_model(model(std::numeric_limits<double>::infinity()), path).ok());
  EXPECT_EQ(text_of(path), before);
}

TEST_F(SavedModel, ReadOnlyFolderLeavesTheOldModel) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const std::string path = folder_ / "model.json";
  ASSERT_TRUE(save_model(model(0.25), path).ok());
  const std::string before = text_of(path);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(save_model(model(1), path).error().message,
            path + ": the file cannot be written (Permission denied); nothing was changed.");
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(text_of(path), before);
  EXPECT_EQ(files(), 1U);
}

// A limit on the size of files stands in for a full disk.
TEST_F(SavedModel, FullDiskLeavesTheOldModel) {
  const std::string path = folder_ / "model.json";
  ASSERT_TRUE(save_model(model(0.25), path).ok());
  const std::string before = text_of(path);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{16, old.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status saved = save_model(model(1), path);
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().message, path + ": writing failed (File too large); nothing was changed.");
  EXPECT_EQ(text_of(path), before);
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace nalm::model_file_test
