// The report of a task, whichever it is: figures of all cells beside what was published, all cells as a table, the curves,
// judged values and runs of a chosen cell, why runs fail, the comparison, the settings. What stands in the data decides
// which of these there are; `layout` says how all cells are drawn: "grid" (three panels per operation), "cells" (marks, or
// a map of many cells), "runs" (rates of many small cells together). The shell provides `nalm`; report.cpp writes the data.
"use strict";
(() => {
  const {
    data, make, none, section, subhead, intro, listed, facts, option, field, note_key, line_look, line_key, table_box, text_box, count, number, signed, percent, plural, capital, sum, smallest, largest,
    day_of, log_ticks, wrap, plain, quantity, SHAPES, key_symbol, show_tip, hide_tip, Figure, MINUS,
  } = nalm;

  // ---- names and looks -----------------------------------------------------------------------------------------
  const cells = data.cells.map((cell, index) => ({ ...cell, index }));
  const PARTS = ["operation", "setting", "model"];
  const words = { model: data.words.model, operation: "operation", setting: data.words.setting };
  // In the order of the data's lists, and only what there is.
  const names = Object.fromEntries(PARTS.map((part) => {
    const present = new Set(cells.map((cell) => cell[part]));
    return [part, [...new Set([...data[`${part}s`].filter((name) => present.has(name)), ...present])]];
  }));
  const varying = PARTS.filter((part) => names[part].length > 1);
  const names_among = (list, part) => names[part].filter((name) => list.some((cell) => cell[part] === name));
  const cell_name = (cell) => [cell.model, cell.operation, cell.setting].filter(Boolean).join(", ");
  // What tells cells apart: without the parts that all share, and the one told elsewhere.
  const short_name = (cell, told) => varying.filter((part) => part !== told).map((part) => cell[part]).join(", ") || (told ? "" : cell.model);
  const grouped = [...cells].sort((a, b) => PARTS.map((part) => names[part].indexOf(a[part]) - names[part].indexOf(b[part])).find((order) => order !== 0) ?? 0);

  const OPERATIONS = { add: ["Addition", "+"], sub: ["Subtraction", MINUS], mul: ["Multiplication", "\u00d7"], div: ["Division", "\u00f7"] };
  const operation_name = (operation) => OPERATIONS[operation]?.[0] ?? operation;

  // A module looks the same in every report; a model unknown to this list takes the next free look.
  const KNOWN = ["NAC+", "NAC*", "NALU", "iNALU", "G-NALU", "NAU", "NMU", "NPU", "RealNPU"];
  const SHAPE_NAMES = ["circle", "saltire", "square", "up", "diamond", "down", "plus", "star", "hexagon", "right", "left", "pentagon"];
  const unknown = names.model.filter((model) => !KNOWN.includes(model));
  const looks = new Map(names.model.map((model) => {
    const known = KNOWN.indexOf(model);
    const index = known >= 0 ? known : KNOWN.length + unknown.indexOf(model);
    return [model, { name: `m${index % 12}`, shape: SHAPE_NAMES[(index + Math.floor(index / 12) * 5) % SHAPE_NAMES.length] }];
  }));
  const model_symbol = (model) => key_symbol(looks.get(model).shape, `fill: var(--${looks.get(model).name})`);
  const hollow = (shape) => key_symbol(shape, "fill: none; stroke: currentColor; stroke-width: .4");
  const swatch = (name) => make("i", { class: "swatch", style: `background: var(--${name})` });

  const is_grid = data.layout === "grid";
  const judged_cells = cells.filter((cell) => cell.goal);
  const version = `nalm ${data.version}`;
  const published_of = (cell, key) => cell.published.filter((figure) => figure.what === key && figure.value !== null);
  // Only what was judged can differ; `agrees` is null where nothing was.
  const differs = (cell, key) => published_of(cell, key).some((figure) => figure.agrees === false);
  const any_published = cells.some((cell) => cell.published.some((figure) => figure.value !== null));
  // The limit of a goal may be 0.9999.
  const exactly = (value) => (value >= 0.01 && value < 1e5 ? String(Number(value.toPrecision(5))) : number(value));

  const state = { hidden: new Set(), published: any_published, what: 0, chosen: null, measure: null };

  // ---- axes ----------------------------------------------------------------------------------------------------
  const round_ticks = (low, high, limit) => {
    const raw = (high - low) / limit;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = unit * ([1, 2, 5, 10].find((each) => each * unit >= raw * 0.999) ?? 10);
    const ticks = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; ++at) ticks.push(at * step);
    return ticks;
  };
  // Where values stand: `level` of a value, or null. On a logarithmic axis zero has a line of its own, infinity on any;
  // between them and the others the axis is broken.
  // settings: { linear, span: [low, high] that a linear axis shows at least, limit: of the ticks }
  function axis_of(values, { linear = false, span = [], limit = 7 } = {}) {
    const finite = [...(linear ? span : []), ...values.filter((value) => Number.isFinite(value) && (linear || value > 0)).map((value) => (linear ? value : Math.log10(value)))];
    let [low, high] = finite.length ? [smallest(finite), largest(finite)] : [0, 1];
    if (!linear) {
      [low, high] = [Math.floor(low), Math.ceil(high)];
      if (high - low < 1) high = low + 1;
    } else if (!(high > low)) {
      const room = Math.abs(low) / 10 || 1;
      [low, high] = [low - room, high + room];
    }
    const margin = Math.max(linear ? 0 : 0.3, 0.14 * (high - low));
    const zero = !linear && values.some((value) => value <= 0) ? low - margin : null;
    const top = values.includes(Infinity) ? high + margin : null;
    const level = (value) => {
      if (value === null || value === undefined || Number.isNaN(value)) return null;
      if (value === Infinity) return top;
      if (linear) return value;
      return value > 0 ? Math.log10(value) : zero;
    };
    const usual = linear ? round_ticks(low, high, limit) : log_ticks(low, high, limit);
    const few = linear || usual.length <= limit + 1 ? usual : usual.filter(Number.isInteger);
    const ticks = [zero, ...few, top].filter((tick) => tick !== null);
    const label = `datum.value === ${zero} ? '0' : datum.value === ${top} ? '\u221e' : ${linear ? "nalmNumber" : "nalmTen"}(datum.value)`;
    const breaks = [zero === null ? null : (zero + low) / 2, top === null ? null : (high + top) / 2].filter((at) => at !== null);
    const domain = [zero ?? low, top ?? high];
    // without its values, the axis of a mark would thin out the ticks of the others
    const datum = (at) => ({ datum: at, type: "quantitative", scale: { domain, nice: false, zero: false }, axis: { values: ticks } });
    return { level, datum, linear, low, high, breaks, domain, axis: { values: ticks, labelExpr: label, domain: false, ticks: false, title: null, labelOverlap: "greedy" } };
  }
  // A double stroke across the axis and a dotted line where the scale is broken. `along`: the axis of the scale.
  const BREAK = { y: "M-1,.75L1,.05M-1,-.05L1,-.75", x: "M-.75,1L-.05,-1M.05,1L.75,-1" };
  const break_marks = (scale, along, colour, name) => scale.breaks.flatMap((level, nth) => {
    const at = { [along]: scale.datum(level) };
    const one = { values: [{}] };
    return [
      { data: one, mark: { type: "rule", strokeDash: [1, 4], color: colour("rule") }, encoding: at },
      { name: `${name}_break_${nth}`, data: one, mark: { type: "point", shape: BREAK[along], size: 130, filled: false, strokeWidth: 1.3, opacity: 1, color: colour("soft") },
        encoding: { ...at, ...(along === "y" ? { x: { value: 0 } } : { y: { value: "height" } }) } },
    ];
  });
  // Labels of several lines stand in the middle of their row.
  const wrapped_labels = (labels, width) => {
    const lines = labels.map((label) => wrap(label, width).length);
    return {
      labelExpr: `nalmWrap(datum.label, ${width})`,
      ...(largest(lines) > 1 ? { labelOffset: { condition: labels.map((label, at) => ({ test: `datum.value === ${JSON.stringify(label)}`, value: -6.25 * (lines[at] - 1) })), value: 0 } } : {}),
    };
  };
  const names_axis = (colour, settings) => ({ title: null, domain: false, ticks: false, labelColor: colour("ink"), labelFontSize: 11.5, labelPadding: 8, ...settings });
  // Of the column of names at the left: its width, and how many letters fit.
  const label_column = (labels, most) => {
    const room = Math.min(most, 12 + 6.8 * largest(labels.map((label) => label.length)));
    const letters = Math.floor(room / 6.4);
    return { room, letters, lines: largest(labels.map((label) => wrap(label, letters).length)), axis: (shown) => ({ labelLimit: room, minExtent: room, maxExtent: room, ...wrapped_labels(shown, letters) }) };
  };

  // ---- what can be looked at -----------------------------------------------------------------------------------
  // `of`: [estimate, low, high] of a cell, or null; `key`: what published figures call it. null stands for infinite in
  // the data of measures, and for an unknown bound in estimates.
  const or_infinite = (value) => value ?? Infinity;
  const bounded = (triple, factor = 1) => (triple && triple[0] !== null ? [triple[0], triple[1] ?? triple[0], triple[2] ?? triple[0]].map((value) => factor * value) : null);
  const success_rate = {
    name: "Success rate", key: "success", mark: "success", unit: "% of runs", linear: true, span: [0, 100], more: true,
    text: (value) => `${number(Math.round(value * 10) / 10)}\u202f%`, brief: (value) => String(Math.round(value)),
    of: (cell) => (cell.goal && cell.runs ? bounded(cell.success, 100) : null), from: (value) => 100 * value, bars: "95\u202f% intervals (Wilson)", bar: "95 % interval",
  };
  // No mean lies beyond the last iteration, ours or theirs, wherever its interval ends.
  const last_iteration = Math.max(1, largest(cells.map((cell) => cell.iterations)), ...cells.flatMap((cell) => published_of(cell, "solved-at").map(({ value }) => value)));
  const solved_at = {
    name: "Solved at", key: "solved-at", mark: "solved_at", unit: "iteration, mean of the solved runs", linear: true, span: [0, last_iteration], text: count,
    of: (cell) => bounded(cell.solved_at), from: (value) => value, bar: "95 % interval", median: (cell) => cell.solved_at?.[3], within: (value) => Math.min(value, last_iteration),
  };
  const sparsity = { name: "Sparsity error", key: "sparsity", mark: "sparsity", unit: "of the solved runs, logarithmic", text: number, of: (cell) => bounded(cell.sparsity), from: (value) => value, bar: "95 % interval", median: (cell) => cell.sparsity?.[3] };
  const median_of = ({ name, share }) => ({
    name: `${name}, median`, key: name, unit: "", linear: share, span: share ? [0, 1] : [], more: share, text: number, brief: number,
    of: (cell) => {
      const measure = cell.runs ? cell.measures.find((each) => each.name === name) : null;
      return measure ? [measure.median, measure.smallest, measure.largest].map(or_infinite) : null;
    },
    from: (value) => value, bars: "from the smallest to the largest run", bar: "smallest to largest",
  });
  const tip_rows = (cell, what) => {
    const own = what.of(cell);
    const rows = own ? [[what.name, what.text(own[0])], [what.bar, `${what.text(own[1])} to ${what.text(own[2])}`]] : [];
    if (own && what.median && what.median(cell) !== null) rows.push(["Median", what.text(what.median(cell))]);
    for (const { value, lo, hi, remark } of published_of(cell, what.key)) {
      const bounds = lo === null || hi === null ? "" : ` (${what.text(what.from(lo))} to ${what.text(what.from(hi))})`;
      rows.push(["Published", `${what.text(what.from(value))}${bounds}${remark ? ` \u2013 ${remark}` : ""}`]);
    }
    return [...rows, ["Runs", cell.goal ? `${cell.successes} of ${cell.runs} solved` : count(cell.runs)]];
  };
  const cell_tip = (cell, what) => ({ title: cell_name(cell), rows: tip_rows(cell, what), note: cell.runs ? "Click for its runs" : "No runs yet" });
  const choose_on_click = (view, figure) => {
    figure.plot.dataset.clickable = "";
    view.addEventListener("click", (event, item) => { if (item?.datum?.cell !== undefined) choose(cells[item.datum.cell], true); });
  };

  // ---- grid: three panels per operation ------------------------------------------------------------------------
  const PANELS = [success_rate, solved_at, sparsity];
  const MOST_ABREAST = 7;  // models in a figure: more, and their marks touch

  function operation_lead(own) {
    const totals = names_among(own, "model").map((model) => {
      const mine = own.filter((cell) => cell.model === model);
      return { model, solved: sum(mine, (cell) => cell.successes), runs: sum(mine, (cell) => cell.runs) };
    }).sort((a, b) => b.solved / b.runs - a.solved / a.runs);
    const alike = (place) => totals.filter((other) => other.solved / other.runs === place.solved / place.runs);
    // Models that are equally good share a place; a long list is cut.
    const tell = (place) => {
      const equal = alike(place);
      const list = equal.slice(0, 4).map(({ model }) => model);
      if (equal.length > 4) list.push(`${equal.length - 4} more`);
      return `${list.length > 1 ? `${list.slice(0, -1).join(", ")} and ${list.at(-1)}` : list[0]} (${count(place.solved)} of ${plural(place.runs, "run", "runs")}${equal.length > 1 ? " each" : ""})`;
    };
    if (totals.length === 1) return `${totals[0].model} solved ${count(totals[0].solved)} of ${plural(totals[0].runs, "run", "runs")}.`;
    if (alike(totals[0]).length === totals.length) return `Solved equally often by ${tell(totals[0])}.`;
    return `Most often solved by ${tell(totals[0])}, least often by ${tell(totals.at(-1))}.`;
  }

  // The figures of an operation; many models are spread over several.
  function operation_figures(operation) {
    const own = cells.filter((cell) => cell.operation === operation);
    const models = names_among(own, "model");
    const parts = Math.ceil(models.length / MOST_ABREAST);
    const each = Math.ceil(models.length / parts);
    return Array.from({ length: parts }, (_, part) => operation_figure(operation, own, models.slice(part * each, (part + 1) * each), part, parts));
  }

  function operation_figure(operation, all, models, part, parts) {
    const own = all.filter((cell) => models.includes(cell.model));
    const settings = names_among(own, "setting");
    const shown = () => models.filter((model) => !state.hidden.has(model));
    const lead = part === 0 ? operation_lead(all) : "";

    // Published figures stand to the right of ours, or below.
    const points_of = (what, source, colour) => {
      const visible = shown();
      const shift = state.published ? (source === "ours" ? -0.24 : 0.26) : 0;
      return own.filter((cell) => visible.includes(cell.model)).flatMap((cell) => {
        const ours = what.of(cell);
        const triples = source === "ours" ? (ours ? [ours] : []) : published_of(cell, what.key).map(({ value, lo, hi }) => [value, lo ?? value, hi ?? value].map(what.from));
        const { name, shape } = looks.get(cell.model);
        return triples.map((triple) => {
          const [value, low, high] = triple.map(what.within ?? ((each) => each));
          return { cell: cell.index, what: PANELS.indexOf(what), source, setting: cell.setting, at: visible.indexOf(cell.model) + shift, value, low, high, colour: colour(name), path: SHAPES[shape] };
        });
      });
    };

    const build = (context) => {
      const { narrow, colour } = context;
      const slots = Math.max(shown().length, 1);
      const label_room = 92;
      const value_room = 50;
      const panel_width = context.width - (narrow ? label_room + 12 : value_room + 10);
      const letters = Math.floor((narrow ? label_room : panel_width / settings.length) / 6.6);
      const lines = settings.map((setting) => wrap(setting, letters).length);
      const row_height = Math.max(30, slots * (state.published ? 17 : 10), 13 * largest(lines) + 10);
      const across = narrow ? settings.length * row_height : panel_width;
      const along = narrow ? panel_width : context.printing ? 106 : 158;
      const [category, value_axis] = narrow ? ["y", "x"] : ["x", "y"];
      // Marks are as large as their place allows: shapes reach 1.1 times half the root of their size.
      const place = (0.84 * across) / settings.length / slots;
      const size_of = (most, share) => Math.min(most, ((2 * share * place) / 1.1) ** 2);

      const panel_rows = PANELS.map((what) => [...points_of(what, "ours", colour), ...(state.published ? points_of(what, "published", colour) : [])]);
      const lowest = panel_rows.findLastIndex((rows) => rows.length);
      const panel_spec = (what, position) => {
        let rows = panel_rows[position];
        const empty = !rows.length;  // a line of words, no axes
        // an interval may reach down to almost nothing
        const least = smallest(rows.map((row) => row.value).filter((value) => value > 0)) / 100;
        if (!what.linear) rows = rows.map((row) => ({ ...row, low: row.low > 0 || row.value > 0 ? Math.max(row.low, least) : row.low }));
        const scale = axis_of(rows.flatMap((row) => [row.value, row.low, row.high]), { linear: what.linear, span: what.span, limit: narrow ? 4 : 6 });
        rows = rows.map((row) => ({ ...row, value: scale.level(row.value), low: scale.level(row.low), high: scale.level(row.high) }));
        const ticks = what === success_rate ? { values: [0, 25, 50, 75, 100], labelExpr: "datum.label" } : what === solved_at ? { labelExpr: "nalmCount(datum.value)" } : {};
        const axis = { ...scale.axis, ...ticks, grid: !empty, labels: !empty, ...(narrow ? { labelFlush: true } : { minExtent: value_room, maxExtent: value_room }) };
        const labels = !empty && (narrow || position === lowest);
        const base = {
          [category]: { field: "setting", type: "nominal", scale: { domain: settings, paddingInner: 0.16, paddingOuter: 0.08 }, axis: names_axis(colour, {
            grid: !empty, tickBand: "extent", labels, labelAngle: 0, labelLimit: narrow ? label_room : 0, labelPadding: 6, labelOverlap: false, labelFontSize: narrow ? 10.5 : 11.5,
            ...(narrow ? { minExtent: label_room, maxExtent: label_room, ...wrapped_labels(settings, letters) } : { labelExpr: `nalmWrap(datum.label, ${letters})` }) }) },
          [`${category}Offset`]: { field: "at", type: "quantitative", scale: { domain: [-0.5, slots - 0.5], zero: false, nice: false } },
        };
        const of_source = (source) => ({ values: rows.filter((row) => row.source === source) });
        const bars = (source) => ({
          name: `${what.mark}_${source}_bars`, data: of_source(source), mark: { type: "rule", strokeWidth: source === "ours" ? 1.8 : 1, opacity: 0.75, strokeCap: "round", tooltip: { content: "data" } },
          encoding: { ...base, [value_axis]: quantity("low", scale.domain, axis), [`${value_axis}2`]: { field: "high" }, stroke: plain("colour") },
        });
        const points = (source, size) => ({
          name: `${what.mark}_${source}`, data: of_source(source), mark: { type: "point", opacity: 1, size, strokeWidth: source === "ours" ? 0.7 : 1.1, tooltip: { content: "data" } },
          encoding: { ...base, [value_axis]: quantity("value", scale.domain, axis), shape: plain("path"),
            stroke: source === "ours" ? { value: colour("paper") } : plain("colour"), fill: source === "ours" ? plain("colour") : { value: colour("paper") } },
        });
        const layer = [...break_marks(scale, value_axis, colour, what.mark),
          ...(state.published ? [bars("published"), bars("ours"), points("published", size_of(36, 0.18)), points("ours", size_of(72, 0.27))] : [bars("ours"), points("ours", size_of(72, 0.45))])];
        const [width, height] = narrow ? [along, empty ? 36 : across] : [across, empty ? 36 : along];
        if (empty) {
          layer.push({ data: { values: [{}] }, mark: { type: "text", fontSize: 12, color: colour("soft") },
            encoding: { x: { value: width / 2 }, y: { value: height / 2 }, text: { value: shown().length ? "no run was solved" : `all ${words.model}s are hidden` } } });
        }
        return { title: { text: what.name, subtitle: what.unit }, width, height, layer };
      };
      return { vconcat: PANELS.map(panel_spec), spacing: narrow ? 26 : context.printing ? 12 : 20 };
    };

    const title = operation_name(operation) + (parts > 1 ? `, ${words.model}s ${part + 1} of ${parts}` : "");
    const figure = new Figure({
      id: part === 0 ? operation : `${operation}-${part + 1}`, title, level: 3, lead, build, reserve: 700,
      subtitle: () => [`By ${words.setting}. ${data.title}.`, `Filled marks: this benchmark, with 95 % intervals.${state.published ? " Hollow marks: published values." : ""} ${version}`],
      keys: (context) => shown().map((model) => ({ label: model, shape: looks.get(model).shape, colour: context.colour(looks.get(model).name) })),
      describe: () => `${title}: success rate, iteration solved at and sparsity error of ${shown().join(", ")} by ${words.setting}. ${lead} The table of all cells holds the numbers.`,
      tip: (row) => cell_tip(cells[row.cell], PANELS[row.what]),
      drawn: choose_on_click,
    });
    figure.fill_legend = () => {
      const toggle = (model) => {
        if (!state.hidden.delete(model)) state.hidden.add(model);
        apply();
        figure.legend.querySelector(`[data-model="${CSS.escape(model)}"]`)?.focus();
      };
      const show_all = () => { state.hidden.clear(); apply(); figure.legend.querySelector("button").focus(); };
      figure.legend.replaceChildren(
        ...models.map((model) => make("button", { type: "button", class: "key", "data-model": model, "aria-pressed": String(!state.hidden.has(model)), title: "Show or hide in all figures", onclick: () => toggle(model) }, model_symbol(model), model)),
        ...(shown().length < models.length ? [make("button", { type: "button", class: "quiet controls", onclick: show_all }, "Show all")] : []),
        ...(state.published ? [note_key(hollow("circle"), "hollow: published")] : []));
    };
    figure.fill_legend();
    return figure;
  }

  let operation_parts = [];
  function apply() {
    for (const figure of operation_parts) figure.fill_legend();
    nalm.redraw_all();
  }
  function grid_section() {
    operation_parts = names.operation.flatMap(operation_figures);
    // Many models: first all of them at a glance.
    const crowded = names.operation.filter((operation) => names_among(cells.filter((cell) => cell.operation === operation), "model").length > MOST_ABREAST);
    const glance = crowded.map((operation) => new Figure({
      id: `map-${operation}`, title: `${operation_name(operation)}: all ${words.model}s`, level: 3, reserve: 420, build: (context) => model_map(context, operation),
      subtitle: () => [`Success rate in per cent. ${data.title}.`, version],
      describe: () => `Success rate of every ${words.model} by ${words.setting}, ${operation_name(operation)}. The table of all cells holds the numbers.`,
      tip: (row) => cell_tip(cells[row.cell], success_rate), drawn: choose_on_click,
    }));
    return section("overview", `How often, how fast, how exactly${names.operation.length > 1 ? ", by operation" : ""}`,
      intro(`Marks stand over the ${words.setting}; lines are 95\u202f% intervals. `, make("span", { class: "controls" }, `Click a ${words.model} to hide or show it, a mark to see its runs.`)),
      glance.map((figure) => figure.element), operation_parts.map((figure) => figure.element));
  }
  // The success rate of every model on every setting: models are rows, so that there is room for their names.
  function model_map(context, operation) {
    const { colour } = context;
    const own = cells.filter((cell) => cell.operation === operation && success_rate.of(cell));
    const models = names_among(own, "model");
    const settings = names_among(own, "setting");
    const left = label_column(models, context.width * 0.34);
    const column = Math.floor(Math.min(96, (context.width - left.room - 12) / settings.length));
    const rows = own.map((cell) => ({ cell: cell.index, model: cell.model, setting: cell.setting, text: success_rate.brief(success_rate.of(cell)[0]), colour: blend(context, success_rate.of(cell)[0] / 100) }));
    const flat = largest(settings.map((name) => name.length)) * 6.6 <= column;
    const x = { field: "setting", type: "nominal", scale: { domain: settings, padding: 0 }, axis: names_axis(colour, { orient: "top", labelFontSize: 10.5, labelPadding: 6, labelLimit: 120, ...(flat ? { labelAngle: 0 } : { labelAngle: -90, labelAlign: "left", labelBaseline: "middle" }) }) };
    const y = { field: "model", type: "nominal", scale: { domain: models, padding: 0 }, axis: names_axis(colour, left.axis(models)) };
    return { width: column * settings.length, height: 22 * models.length, data: { values: rows }, layer: [
      { name: `map_${operation}`, mark: { type: "rect", stroke: colour("paper"), strokeWidth: 1.5, tooltip: { content: "data" } }, encoding: { x, y, fill: plain("colour") } },
      { mark: { type: "text", fontSize: 11, color: colour("ink"), tooltip: { content: "data" } }, encoding: { x, y, text: { field: "text", type: "nominal" } } }] };
  }

  // ---- cells: marks or a map -----------------------------------------------------------------------------------
  const WHATS = [...(judged_cells.length ? [success_rate] : []), ...data.measures.map(median_of)];
  const MOST_AS_MARKS = 12;
  const scale_of = (what, values, limit) => axis_of(values, { linear: what.linear || values.some((value) => value < 0), span: what.span, limit });
  const heading_of = (what) => what.name + (what.unit ? `, ${what.unit}` : "");

  // A row for each of `list`: cells, or cells taken together.
  function dots(context, what, list, name_of) {
    const { colour } = context;
    const values = list.flatMap((cell) => [...(what.of(cell) ?? []), ...published_of(cell, what.key).map((figure) => what.from(figure.value))]);
    const scale = scale_of(what, values, context.narrow ? 4 : 8);
    const labels = list.map(name_of);
    const column = label_column(labels, context.width * 0.4);
    const y = { field: "label", type: "nominal", scale: { domain: labels }, axis: names_axis(colour, { grid: true, tickBand: "extent", ...column.axis(labels) }) };
    const x = (name) => quantity(name, scale.domain, { ...scale.axis, grid: true, labelFlush: true });
    const rows = [];
    const theirs = [];
    const missing = [];
    for (const cell of list) {
      const look = looks.get(cell.model) ?? { name: "solved", shape: "circle" };
      const own = { cell: cell.index, row: list.indexOf(cell), label: name_of(cell), colour: colour(look.name), path: SHAPES[look.shape] };
      for (const figure of published_of(cell, what.key)) theirs.push({ ...own, value: scale.level(what.from(figure.value)) });
      const triple = what.of(cell);
      if (!triple) { missing.push({ ...own, text: cell.runs ? "not judged" : "no runs yet" }); continue; }
      const [value, low, high] = triple.map(scale.level);
      rows.push({ ...own, value, low, high });
    }
    const tooltip = { content: "data" };
    const layer = [
      { name: "overview_bars", data: { values: rows }, mark: { type: "rule", strokeWidth: 2, opacity: 0.7, strokeCap: "round", tooltip }, encoding: { y, x: x("low"), x2: { field: "high" }, stroke: plain("colour") } },
      { name: "overview_ours", data: { values: rows }, mark: { type: "point", size: 80, opacity: 1, strokeWidth: 0.7, tooltip }, encoding: { y, x: x("value"), shape: plain("path"), fill: plain("colour"), stroke: { value: colour("paper") } } },
      { name: "overview_published", data: { values: theirs }, mark: { type: "point", shape: SHAPES.diamond, size: 90, opacity: 1, strokeWidth: 1.5, tooltip }, encoding: { y, x: x("value"), fill: { value: "transparent" }, stroke: { value: colour("ink") } } },
      { name: "overview_missing", data: { values: missing }, mark: { type: "text", align: "left", dx: 6, color: colour("soft"), fontSize: 11 }, encoding: { y, x: { value: 0 }, text: { field: "text", type: "nominal" } } },
    ].filter(({ data: { values: marks } }) => marks.length);
    return {
      title: { text: heading_of(what) + (scale.linear ? "" : ", logarithmic") }, width: context.width - column.room - 16, height: labels.length * Math.max(30, 13 * column.lines + 8),
      layer: [...(rows.length ? break_marks(scale, "x", colour, "overview") : []), ...layer],
    };
  }

  // The models are the columns, or what else there is several of. If everything varies, every operation is a map.
  const column_part = ["model", "setting", "operation"].find((part) => names[part].length > 1) ?? "model";
  const maps = varying.length === 3 ? names.operation : [null];
  const row_name = (cell) => (maps.length > 1 ? cell.setting : short_name(cell, column_part));
  // Colours between that of the page and a blue that text can still be read on.
  const blend = (context, share) => {
    const part = 0.05 + 0.5 * Math.min(1, Math.max(0, share));
    if (!context.file) return `color-mix(in oklab, var(--solved) ${(100 * part).toFixed(1)}%, var(--paper))`;
    const parts = ["solved", "paper"].map((name) => context.colour(name).match(/[0-9a-f]{2}/gi).map((byte) => parseInt(byte, 16)));
    return "#" + parts[0].map((byte, at) => Math.round(part * byte + (1 - part) * parts[1][at]).toString(16).padStart(2, "0")).join("");
  };
  function map_of_cells(context, what) {
    const { colour } = context;
    const columns = names[column_part];
    const all_labels = [...new Set(grouped.map(row_name))];
    const left = label_column(all_labels, context.width * 0.38);
    const gap = 22;
    const abreast = Math.min(maps.length, Math.max(1, Math.floor((context.width + gap) / (left.room + 12 + gap + columns.length * (what.unit ? 46 : 60)))));
    const column = Math.floor(Math.min(130, ((context.width + gap) / abreast - gap - left.room - 12) / columns.length));
    const scale = scale_of(what, cells.flatMap((cell) => what.of(cell)?.[0] ?? []), 5);
    const share = (value) => {
      if (value === Infinity) return what.more ? 1 : 0;
      const part = (scale.level(value) - scale.domain[0]) / (scale.high - scale.domain[0]);
      return what.more ? part : 1 - part;
    };
    const cell_rows = cells.map((cell) => {
      const value = what.of(cell)?.[0];
      const theirs = published_of(cell, what.key);
      return {
        cell: cell.index, map: cell.operation, label: row_name(cell), column: cell[column_part], colour: value === undefined ? colour("panel") : blend(context, share(value)),
        ours: value === undefined ? "\u2013" : what.brief(value) + (differs(cell, what.key) ? " *" : ""), theirs: theirs.length ? `(${what.brief(what.from(theirs[0].value))})` : "",
      };
    });
    const longest = (list) => largest(list.map((text) => text.length)) * 6;
    const with_ours = longest(cell_rows.map((row) => row.ours)) <= column;
    const with_theirs = cell_rows.some((row) => row.theirs) && with_ours && longest(cell_rows.map((row) => row.theirs)) * 0.9 <= column;
    const row_height = Math.max(with_theirs ? 33 : 23, 13 * left.lines + 6);
    const letters = Math.max(1, Math.floor(column / 6.6));
    const flat = longest(columns.flatMap((name) => name.split(" "))) * 1.1 <= column;
    // lines are set downwards from the first: leave room for the others
    const head = flat ? { labelAngle: 0, labelExpr: `nalmWrap(datum.label, ${letters})`, labelBaseline: "line-bottom", labelLimit: 0, labelPadding: 6 + 12.5 * (largest(columns.map((name) => wrap(name, letters).length)) - 1) }
      : { labelAngle: -90, labelAlign: "left", labelBaseline: "middle", labelLimit: 110, labelPadding: 6 };
    const x = { field: "column", type: "nominal", scale: { domain: columns, padding: 0 }, axis: names_axis(colour, { orient: "top", ...head }) };
    const title = heading_of(what) + (with_theirs ? " (published)" : "");
    const panels = maps.map((map, index) => {
      const rows = cell_rows.filter((row) => map === null || row.map === map);
      const labels = all_labels.filter((label) => rows.some((row) => row.label === label));
      const y = { field: "label", type: "nominal", scale: { domain: labels, padding: 0 }, axis: names_axis(colour, left.axis(labels)) };
      const text = (name, of, settings) => ({ name: `${name}_${index}`, mark: { type: "text", tooltip: { content: "data" }, ...settings }, encoding: { x, y, text: { field: of, type: "nominal" } } });
      const layer = [{ name: `overview_cells_${index}`, mark: { type: "rect", stroke: colour("paper"), strokeWidth: 1.5, tooltip: { content: "data" } }, encoding: { x, y, fill: plain("colour") } }];
      if (with_ours) layer.push(text("overview_ours", "ours", { color: colour("ink"), fontSize: 11, dy: with_theirs ? -6 : 0 }));
      if (with_theirs) layer.push({ ...text("overview_published", "theirs", { color: colour("soft"), fontSize: 10, dy: 8 }), transform: [{ filter: "datum.theirs !== ''" }] });
      return { title: { text: map ?? title, offset: 10 }, width: column * columns.length, height: labels.length * row_height, data: { values: rows }, layer };
    });
    return panels.length === 1 ? panels[0]
      : { title: { text: title, offset: 14 }, concat: panels, columns: abreast, spacing: gap, resolve: { scale: { x: "independent", y: "independent" } } };
  }

  function cells_section() {
    // Begins with what the papers tell most about, or with what most cells have.
    const told = WHATS.map((what) => sum(cells, (cell) => published_of(cell, what.key).length));
    const weight = WHATS.map((what, at) => told[at] + sum(cells, (cell) => (what.of(cell) ? 1 : 0)) / (cells.length + 1));
    state.what = Math.max(0, weight.indexOf(largest(weight)));
    const as_marks = cells.length <= MOST_AS_MARKS;
    const what = () => WHATS[state.what];
    const figure = new Figure({
      id: "overview", title: "All cells", level: null, reserve: 400, build: (context) => (as_marks ? dots(context, what(), grouped, (cell) => short_name(cell)) : map_of_cells(context, what())),
      subtitle: () => [`${what().name}. ${data.title} (${data.task}, preset ${data.preset}).`, version],
      keys: (context) => (as_marks ? [
        ...names.model.map((model) => ({ label: model, shape: looks.get(model).shape, colour: context.colour(looks.get(model).name) })),
        ...(told[state.what] ? [{ label: "published", shape: "diamond", colour: context.colour("ink"), fill: "#ffffff" }] : [])] : []),
      describe: () => `${what().name} of ${plural(cells.length, "cell", "cells")}${told[state.what] ? ", beside the published values" : ""}. The table of all cells holds the numbers.`,
      tip: (row) => cell_tip(cells[row.cell], what()),
      drawn: choose_on_click,
    });
    const explain = () => figure.legend.replaceChildren(...(as_marks ? [
      ...(names.model.length > 1 ? names.model.map((model) => note_key(model_symbol(model), model)) : []),
      ...(told[state.what] ? [note_key(hollow("diamond"), "published")] : []),
      note_key(`lines: ${what().bars}`)] : [
      note_key(make("i", { class: "ramp" }), what().more ? "the deeper the more" : "the deeper the smaller"),
      ...(told[state.what] ? [note_key("published: in brackets, where there is room")] : []),
      ...(cells.some((cell) => differs(cell, what().key)) ? [note_key("* differs from the published value")] : [])]));
    const select = make("select", { id: "choose-what", onchange: () => { state.what = Number(select.value); explain(); figure.redraw(); } },
      WHATS.map((each, at) => option(at, each.name + (told[at] ? "" : any_published ? " (nothing published)" : ""))));
    select.value = String(state.what);
    explain();
    return section("overview", "Overview",
      intro(`${any_published ? "Our figures beside the published ones." : "Nothing was published for these cells."} `, make("span", { class: "controls" }, `Click a ${as_marks ? "mark" : "field"} to see its runs.`)),
      make("div", { class: "fields controls" }, field("Show", select)), figure.element);
  }

  // ---- runs: the rates of many small cells together ------------------------------------------------------------
  const wilson = (successes, runs) => {
    const z = 1.959964;
    const rate = successes / runs;
    const middle_rate = (rate + (z * z) / (2 * runs)) / (1 + (z * z) / runs);
    const half = (z / (1 + (z * z) / runs)) * Math.sqrt((rate * (1 - rate)) / runs + (z * z) / (4 * runs * runs));
    return [rate, Math.max(0, middle_rate - half), Math.min(1, middle_rate + half)];
  };
  function pooled_section() {
    const MOST_POOLS = 40;
    const parts = ["setting", "operation", "model"].filter((part) => names[part].length > 1 && names[part].length <= MOST_POOLS);
    if (!parts.length) parts.push("setting");
    const pools = Object.fromEntries(parts.map((part) => [part, names[part].map((name) => {
      const own = judged_cells.filter((cell) => cell[part] === name);
      const [runs, successes] = [sum(own, (cell) => cell.runs), sum(own, (cell) => cell.successes)];
      return { label: name || "all", goal: true, runs, successes, success: runs ? wilson(successes, runs) : [null, null, null], published: [] };
    })]));
    let part = parts[0];
    const figure = new Figure({
      id: "overview", title: "Success rates", level: null, reserve: 260, build: (context) => dots(context, success_rate, pools[part], (pool) => pool.label),
      subtitle: () => [`By ${words[part]}. ${data.title} (${data.task}, preset ${data.preset}).`, version],
      describe: () => `Success rates by ${words[part]}: ${pools[part].map((pool) => `${pool.label} ${pool.successes} of ${pool.runs}`).join("; ")}.`,
      tip: (row) => ({ title: pools[part][row.row].label, rows: tip_rows(pools[part][row.row], success_rate) }),
    });
    figure.legend.replaceChildren(note_key(`lines: ${success_rate.bars}`));
    const select = make("select", { id: "choose-what", onchange: () => { part = select.value; figure.redraw(); } }, parts.map((each) => option(each, `Success rate by ${words[each]}`)));
    return section("overview", "Overview", intro("The runs of all cells together."), make("div", { class: "fields controls" }, field("Show", select)), figure.element);
  }

  // ---- the table of all cells ----------------------------------------------------------------------------------
  function gauge(cell) {
    const [estimate, low, high] = success_rate.of(cell);
    return make("span", { class: "gauge", "aria-hidden": "true", style: `--gauge: var(--${looks.get(cell.model).name})` },
      make("i", { style: `left:${low.toFixed(1)}%;width:${(high - low).toFixed(1)}%` }),
      published_of(cell, "success").map(({ value }) => make("u", { style: `left:${(100 * value).toFixed(1)}%` })),
      make("b", { style: `left:${estimate.toFixed(1)}%` }));
  }
  // What a text is sorted by: the number it begins with, a share, or itself.
  const value_in = (text) => {
    if (!text || text === "-") return null;
    const share = text.match(/^(\d+)\/(\d+)$/);
    if (share) return share[1] / share[2];
    const value = text.startsWith("inf") ? Infinity : parseFloat(text);
    return Number.isNaN(value) ? text : value;
  };
  // The columns of the data's tables, one after the other; those of a name belong together. A table with a title is that
  // of an operation.
  function table_columns() {
    const columns = new Map();
    const part_of = (heading) => PARTS.find((part) => words[part] === heading);
    const column_for = (id, name, part) => {
      if (!columns.has(id)) columns.set(id, { id, name: capital(name), part, numeric: !part, texts: new Map() });
      return columns.get(id);
    };
    data.tables.forEach(({ title, headings, rows, left }) => {
      const own = title ? cells.filter((cell) => cell.operation === title) : cells;
      headings.forEach((heading, at) => {
        const nth = headings.slice(0, at).filter((other) => other === heading).length;
        const column = column_for(nth ? `${heading} ${nth + 1}` : heading, heading, at < left ? part_of(heading) : null);
        column.numeric = at >= left;
        rows.forEach((row, index) => column.texts.set(own[index], row[at].replaceAll("+-", "\u00b1")));
        if (title && at === 0) {
          const operation = column_for("operation", "operation", "operation");
          own.forEach((cell) => operation.texts.set(cell, cell.operation));
        }
      });
    });
    // other rows than the judged one only where they tell something else
    const solved_texts = cells.map((cell) => String(cell.successes));
    const is_news = ({ id, texts }) => !["ever", "at end"].includes(id) || cells.some((cell, at) => (texts.get(cell) || solved_texts[at]) !== solved_texts[at]);
    const list = [...columns.values()].filter(is_news);
    const insert = (after, column) => list.splice(list.findIndex(({ id }) => id === after) + 1, 0, { part: null, texts: new Map(), ...column });
    if (is_grid && cells.some((cell) => published_of(cell, "success").length)) {
      const texts = new Map(cells.filter((cell) => published_of(cell, "success").length).map((cell) => [cell, signed(cell.successes - Math.round(published_of(cell, "success")[0].value * cell.runs))]));
      insert("published", { id: "difference in runs", name: "Difference in runs", numeric: true, texts });
    }
    if (cells.some((cell) => Object.keys(cell.failures).length)) {
      const most = (cell) => Object.entries(cell.failures).sort((a, b) => b[1] - a[1])[0];
      insert(list.at(-1).id, { id: "most frequent failure", name: "Most frequent failure", numeric: false, wide: true, texts: new Map(cells.filter(most).map((cell) => [cell, `${most(cell)[0]} (${most(cell)[1]})`])) });
    }
    return list;
  }

  function table_section() {
    const columns = table_columns();
    const show = (column, cell) => {
      const text = column.texts.get(cell) ?? "";
      if (column === columns[0]) return make("button", { type: "button", class: "row-button", "aria-label": `Runs of ${cell_name(cell)}` }, text || "\u2013");
      if (!text || text === "-") return none();
      if (column.id === "difference in runs") return differs(cell, "success") ? make("strong", { class: "differs" }, `${text}\u202f*`) : text;
      const [, estimate, interval] = text.match(/^([^[]*)(\[.*\])?$/s) ?? [null, text];
      return [column.id.startsWith("success %") && success_rate.of(cell) ? gauge(cell) : null, interval ? make("span", { class: "estimate" }, estimate) : estimate, interval ? make("span", { class: "interval" }, interval) : null];
    };
    const value_of = (column, cell) => {
      if (column.part) return names[column.part].indexOf(cell[column.part]);
      return value_in((column.texts.get(cell) ?? "").replace(MINUS, "-"));
    };
    const body = make("tbody");
    const row_of = new Map();
    let sorting = { column: null, direction: 1 };
    const heads = columns.map((column) => make("th", { scope: "col", class: column.numeric ? "n" : null, "data-column": column.id, "data-name": column.name },
      make("button", { type: "button", "aria-label": `Sort by ${column.id}`, onclick: () => {
        // numbers are read best from the largest down
        sorting = { column, direction: sorting.column === column ? -sorting.direction : column.numeric ? -1 : 1 };
        arrange();
      } }, column.name)));
    const filter = (label, choices, keep) => ({ label, keep, select: make("select", { onchange: () => arrange() }, choices.map(([value, text]) => option(value, text))), useful: choices.length > 2 });
    const by_part = (part) => filter(capital(words[part]), [["", `All ${words[part]}s`], ...names[part].map((name) => [name, name])], (cell, value) => cell[part] === value);
    const filters = [
      by_part("operation"), by_part("model"), by_part("setting"),
      filter("Published", [["", "All cells"], ...(cells.some((cell) => differs(cell, "success")) ? [["differs", "Those that differ"], ["other", "The others"]] : [])], (cell, value) => differs(cell, "success") === (value === "differs")),
      filter("Outcome", [["", "All cells"], ...(judged_cells.length ? [["all", "Every run solved"], ["other", "The others"]] : [])], (cell, value) => (cell.successes === cell.runs) === (value === "all")),
    ].filter(({ useful }) => useful);
    const tally = make("p", { class: "tally", role: "status" });
    // What has no value comes last either way.
    const in_order = (list, { column, direction }) => [...list].sort((a, b) => {
      const [left, right] = [value_of(column, a), value_of(column, b)];
      if (left === null || right === null) return (left === null) - (right === null);
      return (left < right ? -1 : left > right ? 1 : 0) * direction;
    });
    function arrange() {
      const wanted = cells.filter((cell) => filters.every(({ select, keep }) => !select.value || keep(cell, select.value)));
      body.replaceChildren(...(sorting.column ? in_order(wanted, sorting) : wanted).map((cell) => row_of.get(cell)));
      columns.forEach((column, index) => {
        if (column === sorting.column) heads[index].setAttribute("aria-sort", sorting.direction > 0 ? "ascending" : "descending");
        else heads[index].removeAttribute("aria-sort");
      });
      tally.textContent = plural(wanted.length, "cell", "cells") + (judged_cells.length ? `, ${count(sum(wanted, (cell) => cell.successes))} of ${plural(sum(wanted, (cell) => cell.runs), "run", "runs")} solved` : "");
    }
    const mark_chosen = () => { for (const [cell, row] of row_of) row.classList.toggle("chosen", cell === state.chosen); };
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !String(getSelection())) choose(cells[Number(row.dataset.cell)], true);
    });
    nalm.later(() => {
      for (const cell of cells) {
        row_of.set(cell, make("tr", { "data-cell": cell.index }, columns.map((column, at) =>
          make(at === 0 ? "th" : "td", { scope: at === 0 ? "row" : null, class: column.numeric ? "n" : column.wide ? "wrap" : null }, show(column, cell)))));
      }
      arrange();
      mark_chosen();
    });
    const element = section("table", "All cells",
      intro(cells.some((cell) => published_of(cell, "success").length) ? make("span", { class: "controls" }, "The dark tick on a gauge is the published success rate. ") : "",
        cells.some((cell) => differs(cell, "success")) ? "An asterisk marks rates that differ from the published one. " : "",
        make("span", { class: "controls" }, "Click a heading to sort, a row to see its runs.")),
      make("div", { class: "fields controls" }, filters.map(({ label, select }) => field(label, select)), tally),
      table_box("Table of all cells", make("table", { class: "cells" }, make("thead", null, make("tr", null, heads)), body)),
      listed(data.tables.flatMap(({ notes }) => notes).map((note) => note.replaceAll("+-", "\u00b1"))));
    return { element, mark_chosen };
  }

  // ---- the chosen cell: curves, judged values, runs ------------------------------------------------------------
  const ABSENT = -32768;
  const ZERO = -32767;
  const INFINITE = 32767;
  const value_of_code = (code, span) => {
    if (code === ABSENT) return NaN;
    if (code === INFINITE) return Infinity;
    if (span) return span[0] + ((code + 32766) / 65532) * (span[1] - span[0]);
    return code === ZERO ? 0 : 10 ** (code / 1000);
  };
  const decoded = new Map();
  // Of every run: its steps, and values[row][measure].
  function curves_of(cell) {
    if (!decoded.has(cell)) {
      const bytes = Uint8Array.from(atob(cell.curves), (character) => character.charCodeAt(0));
      const view = new DataView(bytes.buffer);
      let at = 0;
      const next = () => { at += 2; return view.getInt16(at - 2, true); };
      decoded.set(cell, cell.seeds.map((run) => {
        const lines = { run, steps: [], values: [] };
        for (let row = 0; row < run.rows; ++row) {
          lines.steps.push(view.getUint32(at, true));
          at += 4;
          lines.values.push(cell.measures.map(({ span }) => value_of_code(next(), span)));
        }
        return lines;
      }));
    }
    return decoded.get(cell);
  }
  const has_curves = cells.some((cell) => cell.seeds.some((run) => run.rows > 1));
  const middle = (list, of) => {
    const sorted = [...list].sort((a, b) => a - b);
    if (!sorted.length) return null;
    const place = of * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    return low === high ? low : low + (high - low) * (place - Math.floor(place));
  };
  const is_share = (measure) => measure?.span?.[0] === 0 && measure.span[1] === 1;
  const outcome_text = (run) => (run.success ? `solved${run.solved_at !== null ? ` at ${count(run.solved_at)}` : ""}` : run.failure ?? "not solved");
  const solved_words = (cell) => `${cell.successes} of ${plural(cell.runs, "run", "runs")} solved`;
  const outcome_colour = (cell, colour) => (cell.goal ? { condition: { test: "datum.solved", value: colour("solved") }, value: colour("failed") } : { value: colour("solved") });
  const shortened = (text) => (text.length > 120 ? `${text.slice(0, 120)}\u2026` : text);

  function curve_figure() {
    let lines = [];  // { run, steps, values } of the chosen measure
    let scale = null;
    let any_lost = false;
    const limit_of = (cell) => (cell.goal?.measure === state.measure && cell.goal.limit !== null ? cell.goal.limit : null);
    // At every logged step over all runs. Runs that ended count with their last value, what is not a number as infinite.
    const median_line = () => {
      const steps = [...new Set(lines.flatMap((line) => line.steps))].sort((a, b) => a - b);
      const rows = lines.map(() => -1);
      return steps.map((step) => {
        const levels = [];
        lines.forEach((line, at) => {
          while (rows[at] + 1 < line.steps.length && line.steps[rows[at] + 1] <= step) ++rows[at];
          if (rows[at] >= 0) levels.push(scale.level(line.values[rows[at]]) ?? Infinity);
        });
        const level = middle(levels, 0.5);
        return { step, value: Number.isFinite(level) ? level : null };
      });
    };
    const build = (context) => {
      const { colour } = context;
      const cell = state.chosen;
      const m = Math.max(0, cell.measures.findIndex((measure) => measure.name === state.measure));
      const measure = cell.measures[m];
      lines = curves_of(cell).map(({ run, steps, values }) => ({ run, steps, values: values.map((row) => row[m]) }));
      const limit = limit_of(cell);
      scale = axis_of([...lines.flatMap((line) => line.values), ...(limit === null ? [] : [limit])], { linear: Boolean(measure?.span), span: is_share(measure) ? [0, 1] : [] });
      const point = (line, row) => ({ seed: line.run.seed, step: line.steps[row], value: scale.level(line.values[row]), solved: Boolean(cell.goal && line.run.success) });
      const rows = lines.flatMap((line) => line.steps.map((_, row) => point(line, row)));
      const judged = lines.filter((line) => line.run.judged < line.steps.length).map((line) => point(line, line.run.judged)).filter(({ value }) => value !== null);
      // the last value of a run before it is no longer a number
      const lost = lines.flatMap((line) => line.values.flatMap((value, row) => (!Number.isNaN(value) && Number.isNaN(line.values[row + 1]) ? [point(line, row)] : [])));
      any_lost = lost.length > 0;
      const all_steps = lines.flatMap((line) => line.steps);
      const [first, last] = all_steps.length ? [smallest(all_steps), largest(all_steps)] : [0, 1];
      const x = quantity("step", [first, Math.max(last, first + 1)], { title: "Iteration", grid: false, tickCount: context.narrow ? 3 : 10, tickMinStep: 1, labelExpr: "nalmCount(datum.value)", labelFlush: true });
      const y = quantity("value", scale.domain, { ...scale.axis, minExtent: 44, maxExtent: 44 });
      const outcome = outcome_colour(cell, colour);
      const fade = (usual) => ({ condition: [{ test: "focus === datum.seed", value: 1 }, { test: "focus !== null", value: 0.15 }], value: usual });
      const layer = [
        { name: "curves", data: { values: rows }, mark: { type: "line", strokeJoin: "round" },
          encoding: { x, y, detail: { field: "seed", type: "nominal" }, stroke: outcome, strokeWidth: { condition: { test: "focus === datum.seed", value: 2.4 }, value: 1.1 }, opacity: fade(0.6),
            ...(cell.goal ? { strokeDash: { condition: { test: "datum.solved", value: [1, 0] }, value: [4, 2.5] } } : {}) } },
        { name: "median", data: { values: median_line() }, mark: { type: "line", strokeWidth: 3, strokeJoin: "round", color: colour("ink") }, encoding: { x, y } },
        { name: "lost", data: { values: lost }, mark: { type: "point", shape: SHAPES.saltire, size: 55, strokeWidth: 0 }, encoding: { x, y, fill: outcome, opacity: fade(0.8) } },
        { name: "judged", data: { values: judged }, transform: [{ filter: "focus === datum.seed" }], mark: { type: "point", shape: SHAPES.circle, size: 95, opacity: 1, strokeWidth: 2 }, encoding: { x, y, stroke: outcome, fill: { value: colour("paper") } } },
      ].filter(({ data: { values } }) => values.length);
      if (rows.length) layer.unshift(...break_marks(scale, "y", colour, "curves"));
      // a line with a word beside it that stays readable over the curves
      const note = (name, where, text_of_note, beside, look) => {
        const text = (more) => ({ data: { values: [{}] }, mark: { type: "text", fontSize: 11, color: colour("threshold"), ...look, ...more }, encoding: { ...where, ...beside, text: { value: text_of_note } } });
        layer.push({ name, data: { values: [{}] }, mark: { type: "rule", strokeWidth: 1.4, strokeDash: [2, 3], color: colour("threshold") }, encoding: where },
          text({ stroke: colour("paper"), strokeWidth: 3, strokeJoin: "round" }), text({}));
      };
      if (limit !== null) {
        const level = scale.level(limit);
        const room = scale.domain[1] - level > 0.08 * (scale.domain[1] - scale.domain[0]);
        // at the end where fewer curves pass it
        const span = scale.domain[1] - scale.domain[0];
        const near = (row_of) => lines.filter((line) => Math.abs((scale.level(line.values[row_of(line)]) ?? Infinity) - level) < 0.12 * span).length;
        const left = near((line) => line.values.length - 1) > near(() => 0);
        note("threshold", { y: scale.datum(level) }, `solved ${cell.goal.above ? "above" : "below"} ${exactly(limit)}`,
          { x: { value: left ? 4 : "width" } }, { align: left ? "left" : "right", baseline: room ? "bottom" : "top", dy: room ? -4 : 5 });
      }
      const from = cell.regularised_from;
      if (from !== null && from >= first && from <= last) {
        const left = from - first < 0.6 * (last - first);
        note("regularised", { x: { datum: from, type: "quantitative", scale: x.scale } }, "regularisers start", { y: { value: 2 } }, { align: left ? "left" : "right", baseline: "top", dx: left ? 5 : -5 });
      }
      if (!rows.length) layer.push({ data: { values: [{}] }, mark: { type: "text", fontSize: 12, color: colour("soft") }, encoding: { text: { value: "no runs yet" } } });
      return { title: { text: `${measure?.name ?? ""}${measure && !measure.span ? ", logarithmic" : ""}` }, params: [{ name: "focus", value: null }], width: context.width - 62, height: context.narrow ? 260 : 340, layer };
    };
    const figure = new Figure({
      id: "curves", title: "Learning curves", level: 3, build, reserve: 420,
      subtitle: () => [`${state.measure} of every run; the thick line is their median.${state.chosen.goal ? ` ${solved_words(state.chosen)}. Solved: ${data.goal}.` : ""}`, `${data.title}. ${version}`],
      keys: (context) => [
        ...(state.chosen.goal ? [{ label: "solved", colour: context.colour("solved") }, { label: "not solved", colour: context.colour("failed"), dash: [4, 2.5] }] : [{ label: "a run", colour: context.colour("solved") }]),
        { label: "median", colour: context.colour("ink") }, ...(any_lost ? [{ label: "no longer a number", shape: "saltire", colour: context.colour("failed") }] : [])],
      describe: () => `${state.measure} over the iterations, a line per run and their median, of ${cell_name(state.chosen)}${state.chosen.goal ? `: ${solved_words(state.chosen)}` : ""}.`,
      drawn: (view, self) => {
        self.legend.replaceChildren(
          ...(state.chosen.goal ? [note_key(line_key({ colour: "solved" }), "solved"), note_key(line_key({ colour: "failed", dash: [4, 2.5] }), "not solved")] : [note_key(line_key({ colour: "solved" }), "a run")]),
          note_key(line_key({ colour: "ink", width: 3 }), "median"), ...(any_lost ? [note_key(key_symbol("saltire", "fill: var(--failed)"), "no longer a number")] : []));
        if (self.listening) return;
        self.listening = true;
        self.plot.addEventListener("pointermove", hover);
        self.plot.addEventListener("pointerleave", leave);
      },
    });
    const point_at = (seed) => {
      if (!figure.old || figure.old.signal("focus") === seed) return;
      figure.old.signal("focus", seed).run();
    };
    const leave = () => { point_at(null); hide_tip(); };
    // How far above or below the pointer a line passes, and its row nearest to it; null where it is not.
    const passing = (line, across, down, x, y) => {
      const at = x.invert(across);
      const next = line.steps.findIndex((step) => step >= at);
      const after = next < 0 ? line.steps.length - 1 : next;
      const before = next > 0 ? next - 1 : after;
      const levels = [before, after].map((row) => scale.level(line.values[row]));
      if (levels.includes(null)) return null;
      const [from, to] = [x(line.steps[before]), x(line.steps[after])];
      const part = to > from ? (across - from) / (to - from) : 0;
      return { line, row: part < 0.5 ? before : after, distance: Math.hypot(y(levels[0] + part * (levels[1] - levels[0])) - down, Math.max(0, across - to, from - across)) };
    };
    // The line nearest to the pointer.
    const hover = (event) => {
      if (!figure.old || figure.dirty || !lines.length) return;
      const [across, down] = figure.position(event);
      const [x, y] = [figure.old.scale("x"), figure.old.scale("y")];
      if (across < x.range()[0] - 8 || across > x.range()[1] + 8 || down < -8 || down > y.range()[0] + 8) { leave(); return; }
      let nearest = null;
      for (const line of lines) {
        const found = line.steps.length ? passing(line, across, down, x, y) : null;
        if (found && (!nearest || found.distance < nearest.distance)) nearest = found;
      }
      if (!nearest || nearest.distance > 48) { leave(); return; }
      const { line: { run, steps, values }, row } = nearest;
      point_at(run.seed);
      show_tip({
        title: `Seed ${run.seed}`,
        rows: [["Iteration", count(steps[row])], [state.measure, number(values[row])], ["Judged at", `${count(run.judged_at)} (ringed)`], ...(state.chosen.goal ? [["Outcome", outcome_text(run)]] : [])],
        note: shortened(run.note),
      }, event);
    };
    return { figure, point_at };
  }

  const no_runs_yet = (colour) => ({ data: { values: [{}] }, mark: { type: "text", color: colour("soft") }, encoding: { text: { value: "no runs yet" } }, width: 200, height: 40 });

  // Cells beside each other: the median of their runs, and the middle half of them as a band.
  function together_figure() {
    const MOST_LINES = 12;
    let part = varying.includes("model") ? "model" : varying[0];
    const beside = () => cells.filter((cell) => cell.runs && cell.measures.some(({ name }) => name === state.measure) && PARTS.every((each) => each === part || cell[each] === state.chosen[each])).slice(0, MOST_LINES);
    const build = (context) => {
      const { colour } = context;
      const shown = beside();
      if (!shown.length) return no_runs_yet(colour);
      const rows_of = shown.map((cell) => {
        const m = cell.measures.findIndex(({ name }) => name === state.measure);
        const lines = curves_of(cell);
        const steps = [...new Set(lines.flatMap((line) => line.steps))].sort((a, b) => a - b);
        const at = lines.map(() => -1);
        return steps.map((step) => {
          const values = [];
          lines.forEach((line, index) => {
            while (at[index] + 1 < line.steps.length && line.steps[at[index] + 1] <= step) ++at[index];
            if (at[index] >= 0) { const value = line.values[at[index]][m]; values.push(Number.isNaN(value) ? Infinity : value); }
          });
          return { step, middle: middle(values, 0.5), low: middle(values, 0.25), high: middle(values, 0.75) };
        });
      });
      const measure = shown[0]?.measures.find(({ name }) => name === state.measure);
      const scale = axis_of(rows_of.flat().flatMap(({ middle: value, low, high }) => [value, low, high]), { linear: Boolean(measure?.span), span: is_share(measure) ? [0, 1] : [] });
      const steps = rows_of.flat().map(({ step }) => step);
      const x = quantity("step", [smallest(steps), Math.max(largest(steps), smallest(steps) + 1)], { title: "Iteration", grid: false, tickCount: context.narrow ? 3 : 10, labelExpr: "nalmCount(datum.value)", labelFlush: true });
      const y = (name) => quantity(name, scale.domain, { ...scale.axis, minExtent: 44, maxExtent: 44 });
      const layer = rows_of.flatMap((rows, at) => {
        const values = rows.map(({ step, middle: value, low, high }) => ({ step, value: scale.level(value), low: scale.level(low), high: scale.level(high) }));
        const stroke = colour(line_look(at).colour);
        return [
          { name: `band_${at}`, data: { values }, mark: { type: "area", color: stroke, opacity: 0.14 }, encoding: { x, y: y("low"), y2: { field: "high" } } },
          { name: `together_${at}`, data: { values }, mark: { type: "line", strokeWidth: 2, strokeJoin: "round", strokeDash: line_look(at).dash, color: stroke }, encoding: { x, y: y("value") } }];
      });
      return { title: { text: `${state.measure}${measure && !measure.span ? ", logarithmic" : ""}` }, width: context.width - 62, height: context.narrow ? 260 : 340, layer };
    };
    const name_of = (cell) => cell[part] || cell.model;
    const figure = new Figure({
      id: "together", title: "Beside each other", level: 3, build, reserve: 420,
      lead: "Lines are medians over the runs, bands hold the middle half of them.",
      subtitle: () => [`${state.measure}: medians, and the middle half of the runs. ${data.title}.`, version],
      keys: (context) => beside().map((cell, at) => ({ label: name_of(cell), colour: context.colour(line_look(at).colour), dash: line_look(at).dash })),
      describe: () => `${state.measure} over the iterations, median and middle half of the runs, of ${beside().map(cell_name).join("; ")}.`,
      drawn: (view, self) => self.legend.replaceChildren(...beside().map((cell, at) => note_key(line_key(line_look(at)), name_of(cell)))),
    });
    const select = make("select", { id: "choose-together", onchange: () => { part = select.value; figure.redraw(); } }, varying.map((each) => option(each, `By ${words[each]}`)));
    select.value = part;
    const fields = make("div", { class: "fields controls" }, field("Set side by side", select));
    return { figure, fields, possible: () => beside().length > 0 };
  }

  // Measures of the same thing at growing sizes, such as "mae at 1e3": one curve instead of a panel each.
  const SIZED = /^(.*) at (1e\d+)$/;
  const sized_kinds = [...new Set(data.measures.map(({ name }) => name.match(SIZED)?.[1]).filter(Boolean))].filter((kind) => data.measures.filter(({ name }) => name.match(SIZED)?.[1] === kind).length > 2);
  const sized_names = (kind) => data.measures.map(({ name }) => name).filter((name) => name.match(SIZED)?.[1] === kind);
  const measured = [...data.measures.map(({ name }) => name).filter((name) => !sized_kinds.includes(name.match(SIZED)?.[1])),
    ...sized_kinds.map((kind) => `${sized_names(kind)[0]} to ${sized_names(kind).at(-1).match(SIZED)[2]}`)];
  const is_sized = (name) => sized_kinds.includes(name.match(SIZED)?.[1]);
  function sizes_figure() {
    const beside = () => cells.filter((cell) => cell.runs && cell.setting === state.chosen.setting && cell.measures.some(({ name }) => is_sized(name)));
    const build = (context) => {
      const { colour } = context;
      if (!beside().length) return no_runs_yet(colour);
      const panels = sized_kinds.map((kind, k) => {
        const rows = beside().map((cell) => cell.measures.filter(({ name }) => name.match(SIZED)?.[1] === kind).map((measure) => ({ size: Math.log10(Number(measure.name.match(SIZED)[2])), value: or_infinite(measure.median) })));
        const share = data.measures.some(({ name, share: is }) => is && name.match(SIZED)?.[1] === kind);
        const scale = axis_of(rows.flat().map(({ value }) => value), { linear: true, span: share ? [0, 1] : [0], limit: 5 });
        const sizes = rows.flat().map(({ size }) => size);
        const x = quantity("size", [smallest(sizes), Math.max(largest(sizes), smallest(sizes) + 1)], { title: "Size of the numbers", grid: false, tickCount: context.narrow ? 4 : 8, tickMinStep: 1, labelExpr: "nalmPower(datum.value)", labelFlush: true });
        const y = quantity("value", scale.domain, { ...scale.axis, minExtent: 44, maxExtent: 44 });
        return { title: { text: `${kind}, median of the runs` }, width: context.width - 62, height: 190,
          layer: rows.map((list, at) => ({ name: `sizes_${k}_${at}`, data: { values: list.map(({ size, value }) => ({ size, value: scale.level(value) })) },
            mark: { type: "line", point: { size: 26, fill: colour(line_look(at).colour) }, strokeWidth: 2, strokeDash: line_look(at).dash, color: colour(line_look(at).colour) }, encoding: { x, y } })) };
      });
      return { vconcat: panels, spacing: 26 };
    };
    const name_of = (cell) => short_name(cell, "setting");
    return new Figure({
      id: "sizes", title: "Over the size of the numbers", level: 3, build, reserve: 480,
      subtitle: () => [`Medians over the runs. ${data.title}.`, version],
      keys: (context) => beside().map((cell, at) => ({ label: name_of(cell), colour: context.colour(line_look(at).colour), dash: line_look(at).dash })),
      describe: () => `${sized_kinds.join(" and ")} over the size of the numbers, of ${beside().map(name_of).join("; ")}.`,
      drawn: (view, self) => self.legend.replaceChildren(...beside().map((cell, at) => note_key(line_key(line_look(at)), name_of(cell)))),
    });
  }

  // Every run a dot, with the quarters around the median; a panel per measure.
  function strip_figure() {
    const build = (context) => {
      const { colour } = context;
      const cell = state.chosen;
      const columns = Math.min(Math.max(1, cell.measures.filter(({ name }) => !is_sized(name)).length), context.width >= 900 ? 3 : context.width >= 560 ? 2 : 1);
      const gap = 34;
      const width = Math.floor((context.width - 24 - gap * (columns - 1)) / columns);
      const panels = cell.measures.map((measure, m) => {
        const values = cell.seeds.map((run) => or_infinite(run.values[m]));
        const limit = cell.goal?.measure === measure.name && cell.goal.limit !== null ? [cell.goal.limit] : [];
        const theirs = published_of(cell, measure.name).map((figure) => figure.value);
        const scale = axis_of([...values, ...limit, ...theirs], { linear: Boolean(measure.span), span: is_share(measure) ? [0, 1] : [], limit: width < 260 ? 3 : 5 });
        const levels = values.map(scale.level);
        // spread over the height, the same every time
        const dots_of = cell.seeds.map((run, at) => ({ seed: run.seed, m, value: levels[at], at: ((at * 0.618034) % 1) - 0.5, solved: Boolean(cell.goal && run.success) }));
        const x = (name) => quantity(name, scale.domain, { ...scale.axis, grid: true, labelFlush: true });
        const y = quantity("at", [-0.9, 0.9], null);
        const line = (name, list, look) => ({ name, data: { values: list.map((value) => ({ value })) }, mark: { type: "rule", ...look }, encoding: { x: x("value") } });
        const box = values.length > 3 ? [{ low: middle(levels, 0.25), high: middle(levels, 0.75), at: -0.75, to: 0.75 }] : [];
        const layer = [
          { name: `box_${m}`, data: { values: box }, mark: { type: "rect", color: colour("grid") }, encoding: { x: x("low"), x2: { field: "high" }, y, y2: { field: "to" } } },
          ...(values.length ? break_marks(scale, "x", colour, `strip_${m}`) : []),
          line(`limit_${m}`, limit.map(scale.level), { strokeWidth: 1.4, strokeDash: [2, 3], color: colour("threshold") }),
          line(`middle_${m}`, values.length ? [middle(levels, 0.5)] : [], { strokeWidth: 2.5, color: colour("ink") }),
          { name: `strip_${m}`, data: { values: dots_of }, mark: { type: "point", shape: SHAPES.circle, size: 42, strokeWidth: 0.6, opacity: 0.85, tooltip: { content: "data" } },
            encoding: { x: x("value"), y, stroke: { value: colour("paper") }, fill: outcome_colour(cell, colour) } },
          { name: `published_${m}`, data: { values: theirs.map((value) => ({ value: scale.level(value), at: 0 })) }, mark: { type: "point", shape: SHAPES.diamond, size: 80, strokeWidth: 1.5, opacity: 1 },
            encoding: { x: x("value"), y, fill: { value: "transparent" }, stroke: { value: colour("ink") } } },
        ].filter(({ data: { values: list } }) => list.length);
        const told = `median ${number(or_infinite(measure.median))}, MAD ${number(or_infinite(measure.mad))}${theirs.length ? `; published ${theirs.map(number).join(", ")}` : ""}`;
        return { title: { text: measure.name, subtitle: wrap(cell.runs ? told : "no runs yet", Math.floor(width / 6)) }, width, height: 46, layer };
      }).filter(({ layer, title }) => layer.length && !is_sized(title.text));
      return panels.length ? { concat: panels, columns, spacing: gap, resolve: { scale: { x: "independent", y: "independent" } } }
        : no_runs_yet(colour);
    };
    return new Figure({
      id: "values", title: "Judged values", level: 3, lead: "At the row that is judged, a dot per run; the box holds the middle half, the bar is the median. MAD: median of the absolute deviations from it.", build, reserve: 220,
      subtitle: () => [`Of every run of ${cell_name(state.chosen)}, at the row that is judged.`, `${data.title}. ${version}`],
      keys: (context) => [...(state.chosen.goal ? [{ label: "solved", shape: "circle", colour: context.colour("solved") }, { label: "not solved", shape: "circle", colour: context.colour("failed") }] : []),
        ...(state.chosen.published.length ? [{ label: "published", shape: "diamond", colour: context.colour("ink"), fill: "#ffffff" }] : [])],
      describe: () => `Judged values of ${cell_name(state.chosen)}: ${state.chosen.measures.map((measure) => `${measure.name} median ${number(measure.median)}`).join(", ")}.`,
      tip: (row) => {
        const run = state.chosen.seeds.find((each) => each.seed === row.seed);
        return run ? { title: `Seed ${run.seed}`, rows: [[state.chosen.measures[row.m].name, number(or_infinite(run.values[row.m]))], ...(state.chosen.goal ? [["Outcome", outcome_text(run)]] : [])] } : null;
      },
    });
  }

  function chosen_section() {
    const curves = has_curves ? curve_figure() : null;
    const together = has_curves && varying.length ? together_figure() : null;
    const sizes = sized_kinds.length ? sizes_figure() : null;
    const strips = strip_figure();
    const selects = Object.fromEntries(["operation", "model", "setting"].map((part) => [part, make("select", { id: `choose-${part}`, onchange: () => pick(part) })]));
    const measure_select = make("select", { id: "choose-measure", onchange: () => { state.measure = measure_select.value; curves.figure.redraw(); together?.figure.redraw(); } });
    // The cell with the part that was changed, and as much as possible of the others.
    const pick = (changed) => {
      const alike = (cell) => sum(PARTS, (part) => (cell[part] === selects[part].value ? 1 : 0));
      choose(cells.filter((cell) => cell[changed] === selects[changed].value).sort((a, b) => alike(b) - alike(a))[0], false);
    };
    const heading = curves ? curves.figure.heading : make("h3", { class: "subhead" });
    const lead_line = curves ? curves.figure.lead_line : intro();
    const runs_title = make("h3", { class: "subhead", id: "runs-title" }, "Runs");
    const runs_holder = make("div");
    const point_at = (seed) => curves?.point_at(seed);
    const fill_runs = () => {
      const cell = state.chosen;
      const numeric = (value) => make("td", { class: "n" }, value);
      const text = (value) => make("td", { class: "wrap" }, value || none());
      const columns = [
        ["Seed", true, (run) => make("th", { scope: "row", class: "n" }, run.seed)],
        ...(cell.goal ? [["Solved", false, (run) => make("td", null, run.success ? "yes" : "no")], ["Solved at", true, (run) => numeric(run.solved_at === null ? none() : count(run.solved_at))]] : []),
        ...(cell.seeds.some((run) => run.failure) ? [["Why not", false, (run) => text(run.failure)]] : []),
        ...(has_curves ? [["Judged at", true, (run) => numeric(run.judged_at === null ? none() : count(run.judged_at))]] : []),
        ...cell.measures.map(({ name }, m) => is_sized(name) ? null : [name, true, (run) => numeric(run.values[m] === null ? "not finite" : number(run.values[m]))]).filter(Boolean),
        ...(cell.seeds.some((run) => run.note) ? [["Found", false, (run) => text(run.note)]] : []),
      ];
      runs_holder.replaceChildren(...table_box("Runs of the chosen cell", make("table", { class: "runs" },
        make("thead", null, make("tr", null, columns.map(([name, right]) => make("th", { scope: "col", class: right ? "n" : null }, name)))),
        make("tbody", null, cell.seeds.map((run) => make("tr", { "data-seed": run.seed, "data-failed": Boolean(cell.goal) && !run.success, onpointerenter: () => point_at(run.seed), onpointerleave: () => point_at(null) },
          columns.map(([, , show]) => show(run)))))), "short"));
    };
    const empty = make("p", { class: "intro", hidden: true }, "This cell has no runs yet.");
    const refresh = () => {
      const cell = state.chosen;
      for (const [part, select] of Object.entries(selects)) {
        select.replaceChildren(...names[part].map((name) => option(name, name || "\u2013")));
        select.value = cell[part];
      }
      if (!cell.measures.some((measure) => measure.name === state.measure)) state.measure = cell.goal?.measure ?? cell.measures[0]?.name;
      measure_select.replaceChildren(...cell.measures.map(({ name }) => option(name, name)));
      measure_select.value = state.measure;
      heading.textContent = cell_name(cell);
      const { goal } = cell;
      const theirs = published_of(cell, "success").map((figure) => `published: ${percent(figure.value)}`);
      lead_line.textContent = goal
        ? `${[solved_words(cell), ...theirs].join("; ")}.${goal.limit === null ? "" : ` Solved: ${goal.measure} ${goal.above ? "above" : "below"} ${exactly(goal.limit)}${has_curves ? ` at the ${goal.best_by ? `row with the smallest ${goal.best_by}` : "last row"}` : ""}.`}`
        : `${plural(cell.runs, "run", "runs")}; nothing is judged.`;
      empty.hidden = cell.runs > 0;
      for (const part of [curves?.figure.element, strips.element, runs_title, runs_holder]) if (part) part.hidden = cell.runs === 0;
      if (cell.measures.every(({ name }) => is_sized(name))) strips.element.hidden = true;
      for (const part of together ? [together.figure.element, together.fields] : []) part.hidden = !together.possible();
      if (sizes) sizes.element.hidden = cell.runs === 0;
      fill_runs();
      if (curves) {
        curves.figure.title = `Learning curves: ${cell_name(cell)}`;
        curves.figure.redraw();
      }
      together?.figure.redraw();
      sizes?.redraw();
      strips.redraw();
    };
    const element = section("curves", curves ? "Learning curves" : "A cell and its runs",
      curves ? intro("A line per run, and their median", judged_cells.length ? ": blue where the run was solved, orange and dashed where it was not. " : ". ",
        make("span", { class: "controls" }, "Point at a line for its values; a ring marks the row that is judged.")) : null,
      make("div", { class: "fields controls" }, ["operation", "model", "setting"].filter((part) => names[part].length > 1).map((part) => field(capital(words[part]), selects[part])), curves ? field("Measure", measure_select) : null),
      empty, curves ? curves.figure.element : [heading, lead_line], together ? [together.fields, together.figure.element] : null, sizes?.element, strips.element, runs_title, runs_holder);
    return { element, refresh, title: element.querySelector("h2") };
  }

  // ---- kinds of failure ----------------------------------------------------------------------------------------
  function failure_section() {
    const totals = new Map();
    for (const cell of cells) for (const [kind, runs] of Object.entries(cell.failures)) totals.set(kind, (totals.get(kind) ?? 0) + runs);
    const kinds = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a));
    if (!kinds.length) return null;
    const kind_name = new Map(kinds.map((kind, index) => [kind, `k${index % 8}`]));
    // A panel per operation with a bar per model; of many small cells a bar per setting.
    const part = data.layout === "runs" ? "setting" : "model";
    const operations = data.layout === "runs" ? [null] : names.operation;
    const groups = operations.flatMap((operation) => {
      const own = judged_cells.filter((cell) => operation === null || cell.operation === operation);
      return names_among(own, part).map((name) => {
        const mine = own.filter((cell) => cell[part] === name);
        const runs = sum(mine, (cell) => cell.runs);
        const solved = sum(mine, (cell) => cell.successes);
        const counts = kinds.map((kind) => [kind, sum(mine, (cell) => cell.failures[kind] ?? 0), kind_name.get(kind)]);
        const rest = runs - solved - sum(counts, ([, failed]) => failed);
        return { operation, name, runs, solved, counts, parts: [...counts, ["not classified", rest, "soft"], ["solved", solved, "rest"]].filter(([, share]) => share > 0) };
      });
    });
    const build = (context) => {
      const { colour } = context;
      const columns = Math.min(operations.length, context.width >= 900 ? 4 : context.width >= 560 ? 2 : 1);
      const gap = 26;
      const label_room = Math.min(190, largest(groups.map(({ name }) => name.length)) * 6.4 + 14);
      const width = Math.max(60, Math.min(520, Math.floor((context.width - 8 - gap * (columns - 1)) / columns) - label_room - 12));
      const panels = operations.map((operation, index) => {
        const shown = groups.filter((group) => group.operation === operation && !state.hidden.has(group.name));
        const rows = shown.flatMap((group) => {
          let from = 0;
          return group.parts.map(([kind, runs, name]) => {
            const start = from;
            from += (100 * runs) / group.runs;
            return { operation, name: group.name, kind, runs, of: group.runs, start, end: from, colour: colour(name) };
          });
        });
        return {
          title: { text: operation === null ? "" : operation_name(operation) }, width, height: { step: 24 }, data: { values: rows }, name: `failures_${index}`,
          mark: { type: "bar", stroke: colour("paper"), strokeWidth: 1, tooltip: { content: "data" } },
          encoding: {
            y: { field: "name", type: "nominal", scale: { domain: shown.map((group) => group.name), paddingInner: 0.28 }, axis: names_axis(colour, { labelPadding: 4, labelLimit: label_room, minExtent: label_room, maxExtent: label_room }) },
            x: { field: "start", type: "quantitative", scale: { domain: [0, 100], nice: false }, axis: { title: "% of runs", values: [0, 50, 100], grid: false, labelFlush: true, domain: false, ticks: false, titlePadding: 4 } },
            x2: { field: "end" }, fill: plain("colour"),
          },
        };
      });
      return { concat: panels, columns, spacing: gap, resolve: { scale: { x: "independent", y: "independent" } } };
    };
    const over = part === "model" ? ` over all ${words.setting}s` : "";
    const figure = new Figure({
      id: "failures", title: `Kinds of failure by ${words[part]}`, level: 3, lead: `Share of the runs${over}.`, build, reserve: 260,
      subtitle: () => [`Share of the runs of each ${words[part]}${over}. ${data.title}.`, version],
      keys: (context) => [...kinds.map((kind) => ({ label: kind, shape: "square", colour: context.colour(kind_name.get(kind)) })), { label: "solved", shape: "square", colour: context.colour("rest") }],
      describe: () => `Share of runs by kind of failure and ${words[part]}. In all: ${kinds.map((kind) => `${kind} ${count(totals.get(kind))}`).join(", ")}.`,
      tip: (row) => ({ title: [row.name, row.operation].filter(Boolean).join(", "), rows: [[row.kind, `${count(row.runs)} of ${plural(row.of, "run", "runs")} (${percent(row.runs / row.of)})`]] }),
    });
    figure.legend.append(...kinds.map((kind) => note_key(swatch(kind_name.get(kind)), `${kind} (${count(totals.get(kind))})`)), note_key(swatch("rest"), `solved (${count(sum(cells, (cell) => cell.successes))})`));
    const head = (name, right) => make("th", { scope: "col", class: right ? "n" : null }, name);
    const table = make("table", null,
      make("thead", null, make("tr", null, head(capital(words[part])), part === "model" ? head("Operation") : null, [...kinds, "solved", "runs"].map((name) => head(name, true)))),
      make("tbody", null, groups.map((group) => make("tr", null, make("th", { scope: "row" }, group.name), part === "model" ? make("td", null, group.operation) : null,
        [...group.counts.map(([, runs]) => runs), group.solved, group.runs].map((runs) => make("td", { class: "n" }, count(runs)))))));
    const failed = sum(judged_cells, (cell) => cell.runs - cell.successes);
    return section("failures", "Why runs fail",
      intro(`${plural(failed, "run was", "runs were")} not solved; the most frequent kind is \u201c${kinds[0]}\u201d (${count(totals.get(kinds[0]))}).`), figure.element,
      make("details", { class: "only-screen" }, make("summary", null, "The numbers as a table"), table_box("Kinds of failure", table, "short")));
  }

  // ---- what was published, settings ----------------------------------------------------------------------------
  function comparison_section() {
    const { agrees, words: text, remark } = data.comparison;
    if (!text) return null;
    const lines = text.trimEnd().split("\n");
    // sentences follow the table, whose columns are two spaces apart
    const rows = lines.findLastIndex((line) => line.includes("  ")) + 1;
    const sentences = lines.slice(rows).filter(Boolean);
    if (agrees === null) sentences.unshift("Not judged against what was published.");
    if (remark && !text.includes(remark)) sentences.push(remark);
    return section("comparison", "Beside what was published",
      sentences.map((sentence) => intro(capital(sentence))),
      rows ? text_box("Comparison with what was published", lines.slice(0, rows).join("\n")) : null);
  }

  // What a value of a recipe says: "sparsity (start 20000, end 35000)".
  const recipe_words = (value) => {
    if (Array.isArray(value)) return value.length ? value.map(recipe_words).join("; ") : "none";
    if (value === null || typeof value !== "object") return String(value);
    const { kind, ...rest } = value;
    const told = Object.entries(rest).map(([name, each]) => `${name.replaceAll("_", " ")} ${recipe_words(each)}`).join(", ");
    return kind === undefined ? told : `${kind}${told ? ` (${told})` : ""}`;
  };
  // "NAU add", "NAU sub", "NMU mul" as "NAU add, sub; NMU mul".
  const gathered = (list) => {
    const by_model = new Map();
    for (const name of list) {
      const model = names.model.filter((each) => name === each || name.startsWith(`${each} `)).sort((a, b) => b.length - a.length)[0] ?? name;
      // a model meets the same operation again with every setting
      by_model.set(model, (by_model.get(model) ?? new Set()).add(name.slice(model.length).trim()));
    }
    return [...by_model].map(([model, operations]) => `${model} ${[...operations].join(", ")}`.trim()).join("; ");
  };
  // What all recipes share is told once, then what each has of its own.
  function recipe_parts() {
    const recipes = data.recipes.map(([list, text]) => ({ list, fields: new Map(Object.entries(JSON.parse(text)).map(([name, value]) => [name.replaceAll("_", " "), recipe_words(value)])) }));
    if (!recipes.length) return null;
    const is_shared = ([name, value]) => recipes.every(({ fields }) => fields.get(name) === value);
    const own = (fields) => [...fields].filter((pair) => !is_shared(pair)).map(([name, value]) => make("p", null, `${name}: ${value}`));
    const table = make("table", { class: "recipes" },
      make("thead", null, make("tr", null, [capital(words.model), "Recipe"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", null, recipes.map(({ list, fields }) => make("tr", null, make("th", { scope: "row" }, gathered(list)), make("td", null, own(fields))))));
    return [subhead(recipes.length > 1 ? "Recipes" : "Recipe"), facts([...recipes[0].fields].filter(is_shared)), recipes.length > 1 ? table_box("Recipes", table) : null];
  }

  function settings_section() {
    return section("settings", "Settings and how to reproduce",
      intro(data.settings_text, data.preset === "quick" || data.changes.length ? " That is the task as it is defined; this run trained as the recipe below says." : ""),
      data.differences.length ? [subhead("Differences from the papers"), listed(data.differences)] : null,
      subhead("How it was made"), facts(data.facts), recipe_parts(),
      data.reproduce.length ? [subhead("Reproduce this report"), make("pre", { tabindex: "0" }, make("code", null, data.reproduce.join("\n")))] : null);
  }

  // ---- the page ------------------------------------------------------------------------------------------------
  const day = day_of(data.created);
  const total = sum(cells, (cell) => cell.runs);
  const solved = sum(judged_cells, (cell) => cell.successes);
  const summary = `${[
    total ? `${plural(total, "run", "runs")} of ${plural(cells.length, "cell", "cells")}` : `No runs yet of ${plural(cells.length, "cell", "cells")}`,
    judged_cells.length && total ? `${count(solved)} solved (${percent(solved / sum(judged_cells, (cell) => cell.runs))})` : "",
    data.comparison.agrees === null ? "" : data.comparison.agrees ? "it agrees with what was published" : "it does not agree with what was published",
    data.missing ? `${plural(data.missing, "run is", "runs are")} still missing` : "",
  ].filter(Boolean).join("; ")}.`;
  const interval_note = !is_grid ? "" : data.intervals === "paper" ? "Intervals are computed as the paper computes them."
    : "Intervals cover 95\u202f%: Wilson\u2019s for the success rate, a gamma distribution\u2019s for the iteration solved at, a beta distribution\u2019s for the sparsity error.";

  const overview = is_grid ? grid_section() : data.layout === "runs" && judged_cells.length ? pooled_section() : cells_section();
  const table = table_section();
  const chosen = chosen_section();
  const failures = failure_section();
  const comparison = comparison_section();
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  function choose(cell, go) {
    state.chosen = cell;
    hide_tip();
    table.mark_chosen();
    chosen.refresh();
    if (go) {
      chosen.title.focus({ preventScroll: true });
      chosen.element.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
    }
  }

  const published_toggle = () => make("label", { class: "toggle" },
    make("input", { type: "checkbox", id: "toggle-published", checked: state.published, onchange: (event) => { state.published = event.target.checked; apply(); } }), "Published values");
  const links = [
    ...(is_grid ? names.operation.map((operation) => [`figure-${operation}`, operation_name(operation)]) : [["overview", "Overview"]]), ["table", "Table"],
    ["curves", has_curves ? "Curves" : "Runs"], ...(is_grid ? [] : [["figure-values", "Values"]]), ...(failures ? [["failures", "Failures"]] : []), ...(comparison ? [["comparison", "Published"]] : []), ["settings", "Settings"],
  ];
  const page = document.getElementById("page");
  page.classList.add("report");
  page.append(
    make("header", { class: "masthead" },
      make("p", { class: "kicker" }, `${data.command || `nalm bench --task ${data.task}`} \u00b7 ${day}`),
      make("h1", null, data.title),
      make("p", { class: "summary", id: "summary" }, summary),
      data.changes.length ? make("p", { class: "warning", id: "changes" }, make("strong", null, "Not the task\u2019s own settings: "), data.changes.join(" "), any_published ? ". What was published was measured with other settings." : ".") : null,
      make("p", { class: "standfirst" }, data.source),
      make("p", { class: "standfirst" }, `Preset ${data.preset}. What is measured: ${measured.join(", ")}. ${judged_cells.length ? `Solved: ${data.goal}.` : "Nothing is judged."} ${interval_note}`)),
    make("div", { class: "bar" }, nalm.navigation(links), make("div", { class: "options" }, is_grid && any_published ? published_toggle() : null, nalm.theme_switch())),
    make("main", { id: "content" }, overview, table.element, chosen.element, failures, comparison, settings_section()),
    nalm.footer(`${version}. Made with ${data.command || "nalm bench"}, ${day}.`));

  // Begin with a cell that shows both outcomes, if there is one.
  const evenness = (cell) => (!cell.runs ? 3 : !cell.goal ? 2 : Math.abs(cell.successes / cell.runs - 0.5));
  choose([...cells].sort((a, b) => evenness(a) - evenness(b))[0], false);
  nalm.start();
})();
