// nalm figure: pictures of modules and models, of the idea and the task, and the paper's explanatory figures.
#include "report/figures.hpp"

#include <fmt/format.h>

#include "base/write_file.hpp"
#include "cli/command.hpp"
#include "cli/picture_file.hpp"
#include "nalm/model.hpp"
#include "report/chart.hpp"

namespace nalm::cli {
namespace {

struct FigureOptions {
  std::string name, out, format, width, model;
  std::optional<long> inputs, outputs;
  bool data_only = false;
};

struct DrawnPicture {
  std::string_view name, meaning;
  Picture (*draw)(double width);
};
constexpr DrawnPicture drawn_pictures[] = {
    {"idea", "what this is about: inputs, weights that end at -1, 0 or 1, and the formulas they are", idea_picture},
    {"task", "the Single Module Arithmetic Task: from the input vector to the target", task_picture},
};

int list_figures() {
  for (const FigureInfo& info : figures()) put("{:<16}{}\n", info.name, info.meaning);
  for (const DrawnPicture& picture : drawn_pictures) put("{:<16}{}\n", picture.name, picture.meaning);
  put("{:<16}{}\n", "NMU, NALU, ...",
      "the architecture of a module (nalm list), with --model FILE the numbers of a model");
  return yes;
}

// A picture that is drawn here, and what a page says below it.
struct Explained {
  Picture picture;
  std::string heading;
  std::vector<std::string> paragraphs;
};

Result<Explained> picture_of_module(const ModuleInfo& module, const FigureOptions& o, double width) {
  Explained made;
  made.heading = fmt::format("{}: {}", module.name, module.title);
  made.paragraphs = {fmt::format("Learned: {}.", svg::with_minus(module.learned)), std::string(module.formula),
                     std::string(module.citation),
                     "Boxes are computed from top to bottom; the lines between them were found by running the module's "
                     "own code on symbols."};
  if (o.model.empty()) {
    LayerShape shape = default_shape(module, static_cast<int>(o.inputs.value_or(2)),
                                     static_cast<int>(o.outputs.value_or(module.outputs_multiple_of)));
    if (Status possible = check_shape(module, shape); !possible) return possible.error();
    made.picture = module_picture(module, shape, nullptr, width);
    return made;
  }
  const Result<Model> model = load_model(o.model);
  if (!model) return model.error();
  for (const Layer& layer : model->layers) {
    if (layer.module != &module) continue;
    made.picture = module_picture(module, layer.shape, &layer, width);
    return made;
  }
  return Error{fmt::format("{}: none of its layers is a {}; without a name, nalm figure --model draws them all.",
                           o.model, module.name)};
}

Result<Explained> drawn_figure(const FigureOptions& o, double width) {
  if (o.name.empty()) {
    const Result<Model> model = load_model(o.model);
    if (!model) return model.error();
    Result<Picture> picture = model_picture(*model, width);
    if (!picture) return picture.error();
    return Explained{std::move(*picture), o.model, {}};
  }
  for (const DrawnPicture& picture : drawn_pictures)
    if (picture.name == o.name) {
      Picture drawn = picture.draw(width);
      const std::string heading = drawn.title;
      return Explained{std::move(drawn), heading, {}};
    }
  const Result<const ModuleInfo*> module = find_module(o.name);
  if (!module) return module.error();
  return picture_of_module(**module, o, width);
}

int write_text_file(const Result<std::string>& text, const std::string& path) {
  if (!text) return fail(text.error());
  if (Status possible = may_write(path); !possible) return fail(possible.error());
  if (Status written = write_file(path, *text); !written) return fail(written.error());
  put("Written: {}\n", path);
  return yes;
}

int figure(const FigureOptions& o) {
  if (o.name.empty() && o.model.empty()) return list_figures();
  const bool is_chart =
      std::any_of(figures().begin(), figures().end(), [&](const FigureInfo& info) { return info.name == o.name; });
  const bool is_picture = !is_chart && (o.name.empty() || find_module(o.name) ||
                                        std::any_of(std::begin(drawn_pictures), std::end(drawn_pictures),
                                                    [&](const DrawnPicture& p) { return p.name == o.name; }));
  if (!is_chart && !is_picture) {
    std::string known;
    for (const FigureInfo& info : figures()) known += fmt::format("{}, ", info.name);
    return fail({fmt::format("there is no figure \"{}\"; the figures are {}idea, task, and every module (nalm list).",
                             o.name, known)});
  }
  if (o.data_only && !is_chart)
    return fail(
        {fmt::format("--data: {} is a drawing and has no numbers to write.", o.name.empty() ? "a model" : o.name)});
  const std::string usual = o.data_only ? "json" : is_picture ? "svg" : "html";
  std::string format = o.data_only ? "json" : picture_format(o.format, o.out);
  if (format.empty() && (o.out.empty() || o.out.starts_with("/dev/"))) format = usual;
  const std::string stem = o.name.empty() ? "model" : o.name;
  const std::string path = o.out.empty() ? fmt::format("{}.{}", stem, format) : o.out;
  if (format.empty() || (o.data_only && !path.ends_with(".json") && !path.starts_with("/dev/")))
    return fail({fmt::format("{}: {}; name a file that ends with {}.", o.out,
                             o.data_only ? "the numbers are JSON" : "a figure is a picture or a page",
                             o.data_only ? ".json" : ".svg, .pdf, .png or .html")});
  if (o.data_only) return write_text_file(figure_data(o.name), path);
  if (format == "json")
    return fail({fmt::format("{}: a figure is a picture or a page; --data writes the numbers.", path)});
  Result<double> width = o.width.empty() ? Result<double>(page_width) : read_width(o.width);
  if (!width) return fail(width.error());
  if (is_chart) {
    if (format == "html") return write_text_file(figure_page(o.name), path);
    const Result<std::string> data = figure_data(o.name);
    if (!data) return fail(data.error());
    const double across = o.width.empty() ? 900 : *width;
    if (Status written = write_picture(figure_picture(Json::parse(*data), across), format, o.width, path); !written)
      return fail(written.error());
  } else {
    const Result<Explained> made = drawn_figure(o, *width);
    if (!made) return fail(made.error());
    if (format == "html") {
      const Result<Explained> narrow = drawn_figure(o, std::min(*width, phone_width));
      if (!narrow) return fail(narrow.error());
      return write_text_file(picture_page(made->picture, narrow->picture, made->heading, made->paragraphs), path);
    }
    if (Status written = write_picture(made->picture, format, o.width, path); !written) return fail(written.error());
  }
  put("Written: {}\n", path);
  return yes;
}

}  // namespace

void add_figure(Program& program) {
  static FigureOptions o;
  program.add("figure", "Draw a module, a model, or one of the paper's explanatory figures")
      .optional_word("name", o.name, "A module, or which figure; the list of them if not given", Value::Module)
      .text("--model", o.model, "Draw the numbers of this model file too; without a name, all its layers", Value::File)
      .number("--inputs", o.inputs, 1, 20, "Modules: so many inputs (2)")
      .number("--outputs", o.outputs, 1, 10, "Modules: so many outputs (1)")
      .choice("--format", o.format, {"svg", "pdf", "png", "html"},
              "If the file's name does not say it; pdf and png need rsvg-convert")
      .text("--width", o.width, "Width in print, such as 84mm: letters keep their size")
      .flag("--data", o.data_only, "Explanatory figures: write the numbers as JSON instead")
      .text("-o,--output", o.out, "Write to this file; NAME.svg or NAME.html if not given", Value::File)
      .example(
          "  nalm figure\n  nalm figure NMU\n  nalm figure NALU --width 84mm -o nalu.pdf\n  nalm figure NAU --model "
          "model.json -o learned.svg\n"
          "  nalm figure singularity -o singularity.html")
      .run([] { return figure(o); });
}

}  // namespace nalm::cli
