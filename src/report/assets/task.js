// The report of a task: an overview of its cells beside what was published, all cells as a table, and of a chosen cell
// the learning curves, the judged values and the runs. The shell provides `nalm`; the data are described in the C++ file
// that writes them.
"use strict";
(() => {
  const { data, make, count, number, log_ticks, wrap, SHAPES, key_symbol, show_tip, hide_tip, Figure } = nalm;

  const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many}`;
  const sum = (list, value) => list.reduce((total, each) => total + value(each), 0);
  const smallest = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
  const largest = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);
  const none = () => make("span", { class: "interval" }, "\u2013");
  // The limit of a goal may be 0.9999.
  const exactly = (value) => (value >= 0.01 && value < 1e5 ? String(Number(value.toPrecision(5))) : number(value));
  const percent = (share) => `${number(Math.round(share * 1000) / 10)}\u202f%`;

  // ---- names ---------------------------------------------------------------------------------------------------
  const cells = data.cells.map((cell, index) => ({ ...cell, index }));
  const PARTS = ["operation", "setting", "model"];
  const names = Object.fromEntries(PARTS.map((part) => [part, [...new Set(cells.map((cell) => cell[part]))]]));
  const varying = PARTS.filter((part) => names[part].length > 1);
  const cell_name = (cell) => [cell.model, cell.operation, cell.setting].filter(Boolean).join(", ");
  // What tells cells apart: without the parts that all share, and those told elsewhere.
  const short_name = (cell, told) => varying.filter((part) => part !== told).map((part) => cell[part]).join(", ") || (told ? "" : cell.model);
  const grouped = [...cells].sort((a, b) => PARTS.map((part) => names[part].indexOf(a[part]) - names[part].indexOf(b[part])).find((order) => order !== 0) ?? 0);
  const model_colour = (cell) => `m${[2, 4, 5, 7, 0, 9, 8, 3, 1, 10, 6, 11][names.model.indexOf(cell.model) % 12]}`;

  const state = { what: 0, chosen: null, measure: null };

  // ---- axes ----------------------------------------------------------------------------------------------------
  const round_ticks = (low, high, limit) => {
    const raw = (high - low) / limit;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = unit * ([1, 2, 5, 10].find((each) => each * unit >= raw * 0.999) ?? 10);
    const ticks = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; ++at) ticks.push(at * step);
    return ticks;
  };
  // Where values stand: `level` of a value, or null. On a logarithmic axis zero has a line of its own, infinity on any.
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
    const margin = Math.max(linear ? 0 : 0.3, 0.1 * (high - low));
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
    return { level, low, high, domain: [zero ?? low, top ?? high], axis: { values: ticks, labelExpr: label, domain: false, ticks: false, title: null } };
  }
  const plain = (field) => ({ field, type: "nominal", scale: null });
  const quantity = (field, domain, axis) => ({ field, type: "quantitative", scale: { domain, nice: false, zero: false }, axis });
  // Labels of several lines stand in the middle of their row.
  const wrapped_labels = (labels, width) => {
    const lines = labels.map((label) => wrap(label, width).length);
    return {
      labelExpr: `nalmWrap(datum.label, ${width})`,
      ...(largest(lines) > 1 ? { labelOffset: { condition: labels.map((label, at) => ({ test: `datum.value === ${JSON.stringify(label)}`, value: -6.25 * (lines[at] - 1) })), value: 0 } } : {}),
    };
  };

  // ---- overview ------------------------------------------------------------------------------------------------
  // What can be looked at: the success rate, and the median of every measure. null stands for infinite in the data.
  const or_infinite = (value) => value ?? Infinity;
  const success_rate = {
    name: "Success rate", key: "success", unit: "%", linear: true, span: [0, 100], more: true, text: (value) => `${number(Math.round(value * 10) / 10)}\u202f%`, brief: (value) => String(Math.round(value)),
    of: (cell) => (cell.goal && cell.runs ? cell.success.map((share) => 100 * share) : null), from: (value) => 100 * value,
    bars: "95\u202f% intervals (Wilson)", bar: "95 % interval",
  };
  const median_of = ({ name, share }) => ({
    name: `${name}, median`, key: name, unit: "", linear: share, span: share ? [0, 1] : [], more: share, text: number, brief: number,
    of: (cell) => {
      const measure = cell.runs ? cell.measures.find((each) => each.name === name) : null;
      return measure ? [measure.median, measure.smallest, measure.largest].map(or_infinite) : null;
    },
    from: (value) => value, bars: "from the smallest to the largest run", bar: "smallest to largest",
  });
  const WHATS = [...(cells.some((cell) => cell.goal) ? [success_rate] : []), ...data.measures.map(median_of)];
  const published_of = (cell, what) => cell.published.filter((figure) => figure.what === what.key && figure.value !== null);
  const differs = (cell, what) => published_of(cell, what).some((figure) => figure.agrees === false);
  // Begins with what the papers tell most about, or with what most cells have.
  const told = WHATS.map((what) => sum(cells, (cell) => published_of(cell, what).length));
  const weight = WHATS.map((what, at) => told[at] + sum(cells, (cell) => (what.of(cell) ? 1 : 0)) / (cells.length + 1));
  state.what = Math.max(0, weight.indexOf(largest(weight)));
  const any_published = told.some((figures) => figures > 0);
  const AS_DOTS = 12;
  const as_dots = cells.length <= AS_DOTS;

  const all_values = (what) => cells.flatMap((cell) => [...(what.of(cell) ?? []), ...published_of(cell, what).map((figure) => what.from(figure.value))]);
  const scale_of = (what, values, limit) => axis_of(values, { linear: what.linear || values.some((value) => value < 0), span: what.span, limit });

  function dots(context, what) {
    const { colour } = context;
    const scale = scale_of(what, all_values(what), context.narrow ? 4 : 8);
    const labels = grouped.map((cell) => short_name(cell));
    const label_room = Math.min(context.width * 0.4, 12 + 6.8 * largest(labels.map((label) => label.length)));
    const width = Math.floor(label_room / 6.4);
    const row_height = Math.max(30, 13 * largest(labels.map((label) => wrap(label, width).length)) + 8);
    const y = { field: "label", type: "nominal", scale: { domain: labels }, axis: {
      title: null, domain: false, ticks: false, grid: true, tickBand: "extent", labelColor: colour("ink"), labelFontSize: 11.5, labelLimit: label_room, minExtent: label_room, maxExtent: label_room,
      labelPadding: 8, ...wrapped_labels(labels, width) } };
    const x = (field) => quantity(field, scale.domain, { ...scale.axis, grid: true, labelFlush: true });
    const rows = [];
    const theirs = [];
    const missing = [];
    for (const cell of grouped) {
      const own = { cell: cell.index, label: short_name(cell), colour: colour(model_colour(cell)) };
      for (const figure of published_of(cell, what)) theirs.push({ ...own, value: scale.level(what.from(figure.value)) });
      const triple = what.of(cell);
      if (!triple) { missing.push({ ...own, text: cell.runs ? "not judged" : "no runs yet" }); continue; }
      const [value, low, high] = triple.map(scale.level);
      rows.push({ ...own, value, low, high });
    }
    const layer = [
      { name: "overview_bars", data: { values: rows }, mark: { type: "rule", strokeWidth: 2, opacity: 0.7, strokeCap: "round", tooltip: { content: "data" } },
        encoding: { y, x: x("low"), x2: { field: "high" }, stroke: plain("colour") } },
      { name: "overview_ours", data: { values: rows }, mark: { type: "point", shape: SHAPES.circle, size: 80, opacity: 1, strokeWidth: 0.7, tooltip: { content: "data" } },
        encoding: { y, x: x("value"), fill: plain("colour"), stroke: { value: colour("paper") } } },
      { name: "overview_published", data: { values: theirs }, mark: { type: "point", shape: SHAPES.diamond, size: 90, opacity: 1, strokeWidth: 1.5, tooltip: { content: "data" } },
        encoding: { y, x: x("value"), fill: { value: "transparent" }, stroke: { value: colour("ink") } } },
      { name: "overview_missing", data: { values: missing }, mark: { type: "text", align: "left", dx: 6, color: colour("soft"), fontSize: 11 },
        encoding: { y, x: { value: 0 }, text: { field: "text", type: "nominal" } } },
    ].filter(({ data: { values } }) => values.length);
    return { title: { text: what.name + (what.unit ? `, ${what.unit}` : "") + (scale.axis.labelExpr.includes("nalmTen") ? ", logarithmic" : "") }, width: context.width - label_room - 16, height: labels.length * row_height, layer };
  }

  // The models are the columns, or what else there is several of. If everything varies, every operation is a map.
  const column_part = ["model", "setting", "operation"].find((part) => names[part].length > 1) ?? "model";
  // Colours between that of the page and a blue that text can still be read on.
  const blend = (context, share) => {
    const part = 0.05 + 0.5 * Math.min(1, Math.max(0, share));
    if (!context.file) return `color-mix(in oklab, var(--solved) ${(100 * part).toFixed(1)}%, var(--paper))`;
    const parts = ["solved", "paper"].map((name) => context.colour(name).match(/[0-9a-f]{2}/gi).map((byte) => parseInt(byte, 16)));
    return "#" + parts[0].map((byte, at) => Math.round(part * byte + (1 - part) * parts[1][at]).toString(16).padStart(2, "0")).join("");
  };
  const maps = varying.length === 3 ? names.operation : [null];
  const row_name = (cell) => (maps.length > 1 ? cell.setting : short_name(cell, column_part));
  function heat(context, what) {
    const { colour } = context;
    const columns = names[column_part];
    const all_labels = [...new Set(grouped.map(row_name))];
    const label_room = Math.min(context.width * 0.38, 12 + 6.8 * largest(all_labels.map((label) => label.length)));
    const label_width = Math.floor(label_room / 6.4);
    const gap = 22;
    const abreast = Math.min(maps.length, Math.max(1, Math.floor((context.width + gap) / (label_room + 12 + gap + columns.length * (what.unit ? 46 : 60)))));
    const column = Math.floor(Math.min(130, ((context.width + gap) / abreast - gap - label_room - 12) / columns.length));
    const values = cells.flatMap((cell) => what.of(cell)?.[0] ?? []);
    const scale = scale_of(what, values, 5);
    const share = (value) => {
      if (value === Infinity) return what.more ? 1 : 0;
      const part = (scale.level(value) - scale.domain[0]) / (scale.high - scale.domain[0]);
      return what.more ? part : 1 - part;
    };
    const cell_rows = cells.map((cell) => {
      const value = what.of(cell)?.[0];
      const theirs = published_of(cell, what);
      return {
        cell: cell.index, map: cell.operation, label: row_name(cell), column: cell[column_part], colour: value === undefined ? colour("panel") : blend(context, share(value)),
        ours: value === undefined ? "\u2013" : what.brief(value) + (differs(cell, what) ? " *" : ""), theirs: theirs.length ? `(${what.brief(what.from(theirs[0].value))})` : "",
      };
    });
    const longest = (list) => largest(list.map((text) => text.length)) * 6;
    const has_theirs = cell_rows.some((row) => row.theirs);
    const with_ours = longest(cell_rows.map((row) => row.ours)) <= column;
    const with_theirs = has_theirs && with_ours && longest(cell_rows.map((row) => row.theirs)) * 0.9 <= column;
    const row_height = Math.max(with_theirs ? 33 : 23, 13 * largest(all_labels.map((label) => wrap(label, label_width).length)) + 6);
    const flat = longest(columns.flatMap((name) => name.split(" "))) * 1.1 <= column;
    const x = { field: "column", type: "nominal", scale: { domain: columns, padding: 0 }, axis: {
      orient: "top", title: null, domain: false, ticks: false, labelColor: colour("ink"), labelFontSize: 11.5, labelLimit: flat ? 0 : 110, labelPadding: 6,
      ...(flat ? { labelAngle: 0, labelExpr: `nalmWrap(datum.label, ${Math.max(1, Math.floor(column / 6.6))})`, labelBaseline: "line-bottom" } : { labelAngle: -90, labelAlign: "left", labelBaseline: "middle" }) } };
    if (flat) {
      // lines are set downwards from the first: leave room for the others
      const lines = largest(columns.map((name) => wrap(name, Math.max(1, Math.floor(column / 6.6))).length));
      x.axis.labelPadding += 12.5 * (lines - 1);
    }
    const title = what.name + (what.unit ? `, ${what.unit}` : "") + (with_theirs ? " (published)" : "");
    const panels = maps.map((map, index) => {
      const rows = cell_rows.filter((row) => map === null || row.map === map);
      const labels = all_labels.filter((label) => rows.some((row) => row.label === label));
      const y = { field: "label", type: "nominal", scale: { domain: labels, padding: 0 }, axis: {
        title: null, domain: false, ticks: false, labelColor: colour("ink"), labelFontSize: 11.5, labelLimit: label_room, minExtent: label_room, maxExtent: label_room, labelPadding: 8, ...wrapped_labels(labels, label_width) } };
      const text = (name, field_name, settings) => ({ name: `${name}_${index}`, mark: { type: "text", tooltip: { content: "data" }, ...settings }, encoding: { x, y, text: { field: field_name, type: "nominal" } } });
      const layer = [{ name: `overview_cells_${index}`, mark: { type: "rect", stroke: colour("paper"), strokeWidth: 1.5, tooltip: { content: "data" } }, encoding: { x, y, fill: plain("colour") } }];
      if (with_ours) layer.push(text("overview_ours", "ours", { color: colour("ink"), fontSize: 11, dy: with_theirs ? -6 : 0 }));
      if (with_theirs) layer.push({ ...text("overview_published", "theirs", { color: colour("soft"), fontSize: 10, dy: 8 }), transform: [{ filter: "datum.theirs !== ''" }] });
      return { title: { text: map ?? title, offset: 10 }, width: column * columns.length, height: labels.length * row_height, data: { values: rows }, layer };
    });
    return panels.length === 1 ? panels[0]
      : { title: { text: title, offset: 14 }, concat: panels, columns: abreast, spacing: gap, resolve: { scale: { x: "independent", y: "independent" } } };
  }

  function overview_section() {
    const what = () => WHATS[state.what];
    const figure = new Figure({
      id: "overview", title: "All cells", level: null, reserve: 400, build: (context) => (as_dots ? dots(context, what()) : heat(context, what())),
      subtitle: () => [`${what().name}. ${data.title} (${data.task}, preset ${data.preset}).`, `nalm ${data.version}`],
      keys: (context) => (as_dots ? [
        { label: "this run of the task", shape: "circle", colour: context.colour(names.model.length > 1 ? "soft" : model_colour(cells[0])) },
        ...(told[state.what] ? [{ label: "published", shape: "diamond", colour: context.colour("ink"), fill: "#ffffff" }] : [])] : []),
      describe: () => `${what().name} of ${plural(cells.length, "cell", "cells")}${told[state.what] ? ", beside the published values" : ""}. The table of all cells holds the numbers.`,
      tip: (row) => {
        const cell = cells[row.cell];
        const own = what().of(cell);
        const rows = [];
        if (own) rows.push([what().name, what().text(own[0])], [what().bar, `${what().text(own[1])} to ${what().text(own[2])}`]);
        for (const { value, remark } of published_of(cell, what())) rows.push(["Published", `${what().text(what().from(value))}${remark ? ` \u2013 ${remark}` : ""}`]);
        rows.push(["Runs", cell.goal ? `${cell.successes} of ${cell.runs} solved` : count(cell.runs)]);
        return { title: cell_name(cell), rows, note: cell.runs ? "Click for its learning curves" : "No runs yet" };
      },
      drawn: (view, self) => {
        self.plot.dataset.clickable = "";
        view.addEventListener("click", (event, item) => { if (item?.datum?.cell !== undefined) choose(cells[item.datum.cell], true); });
      },
    });
    const explain = () => {
      figure.legend.replaceChildren(...(as_dots ? [
        ...(names.model.length > 1 ? names.model.map((model) => make("span", { class: "note-key" }, key_symbol("circle", `fill: var(--${model_colour({ model })})`), model)) : []),
        ...(told[state.what] ? [make("span", { class: "note-key" }, key_symbol("diamond", "fill: none; stroke: currentColor; stroke-width: .4"), "published")] : []),
        make("span", { class: "note-key" }, `lines: ${what().bars}`)] : [
        make("span", { class: "note-key" }, make("i", { class: "ramp" }), what().more ? "the deeper the more" : "the deeper the smaller"),
        ...(told[state.what] ? [make("span", { class: "note-key" }, "published: in brackets, where there is room")] : []),
        ...(cells.some((cell) => differs(cell, what())) ? [make("span", { class: "note-key" }, "* outside the 95\u202f% interval")] : [])]));
    };
    const select = make("select", { id: "choose-what", onchange: () => { state.what = Number(select.value); explain(); figure.redraw(); } },
      WHATS.map((each, at) => make("option", { value: at }, each.name + (told[at] ? "" : any_published ? " (nothing published)" : ""))));
    select.value = String(state.what);
    explain();
    const intro = `${any_published ? "Our figures beside the published ones." : "Nothing was published for these cells."} ${data.remark} `;
    return make("section", { id: "overview", "aria-labelledby": "overview-title" },
      make("h2", { id: "overview-title" }, "Overview"),
      make("p", { class: "intro" }, intro, make("span", { class: "controls" }, `Click a ${as_dots ? "mark" : "field"} to see its learning curves.`)),
      make("div", { class: "fields controls" }, field("Show", select)),
      figure.element);
  }
  const field = (name, select) => make("label", { class: "field" }, make("span", null, name), select);

  // ---- the table of all cells ----------------------------------------------------------------------------------
  function cell_table() {
    const { headings, rows, left, notes } = data.table;
    const text_of = (text) => text.replaceAll("+-", "\u00b1");
    const entry = (text, at, cell) => (at === 0
      ? make("th", { scope: "row" }, make("button", { type: "button", class: "row-button", "aria-label": `Learning curves of ${cell_name(cell)}` }, text))
      : make("td", { class: at >= left ? "n" : null }, text_of(text)));
    const body = make("tbody", null, rows.map((row, index) => make("tr", { "data-cell": index }, row.map((text, at) => entry(text, at, cells[index])))));
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !String(getSelection())) choose(cells[Number(row.dataset.cell)], true);
    });
    const element = make("section", { id: "table", "aria-labelledby": "table-title" },
      make("h2", { id: "table-title" }, "All cells"),
      make("p", { class: "intro controls" }, "Choose a row to see its learning curves."),
      make("div", { class: "box", role: "region", tabindex: "0", "aria-label": "Table of all cells, scrolls sideways" },
        make("table", { class: "cells" }, make("thead", null, make("tr", null, headings.map((text, at) => make("th", { scope: "col", class: at >= left ? "n" : null }, text)))), body)),
      make("ul", { class: "notes" }, notes.map((note) => make("li", null, text_of(note)))));
    const mark_chosen = () => {
      for (const row of body.children) row.classList.toggle("chosen", Number(row.dataset.cell) === state.chosen.index);
    };
    return { element, mark_chosen };
  }

  // ---- the chosen cell: curves, judged values, runs ------------------------------------------------------------
  const ABSENT = -32768;
  const ZERO = -32767;
  const INFINITE = 32767;
  const value_of = (code, span) => {
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
          lines.values.push(cell.measures.map(({ span }) => value_of(next(), span)));
        }
        return lines;
      }));
    }
    return decoded.get(cell);
  }
  const middle = (list, of) => {
    const sorted = [...list].sort((a, b) => a - b);
    if (!sorted.length) return null;
    const place = of * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    return low === high ? low : low + (high - low) * (place - Math.floor(place));
  };
  const outcome_text = (cell, run) => (!cell.goal ? "" : run.success ? "solved" : "not solved");
  const published_for = (cell, name) => cell.published.filter((figure) => figure.what === name && figure.value !== null);

  function curve_figure() {
    let lines = [];  // { run, steps, values } of the chosen measure
    let scale = null;
    const measure_at = () => Math.max(0, state.chosen.measures.findIndex((measure) => measure.name === state.measure));
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
      const m = measure_at();
      const measure = cell.measures[m];
      lines = curves_of(cell).map(({ run, steps, values }) => ({ run, steps, values: values.map((row) => row[m]) }));
      const limit = limit_of(cell);
      scale = axis_of([...lines.flatMap((line) => line.values), ...(limit === null ? [] : [limit])], { linear: Boolean(measure?.span), span: measure?.span?.[0] === 0 && measure.span[1] === 1 ? [0, 1] : [] });
      const solved = (run) => Boolean(cell.goal && run.success);
      const point = (line, row) => ({ seed: line.run.seed, step: line.steps[row], value: scale.level(line.values[row]), solved: solved(line.run) });
      const rows = lines.flatMap((line) => line.steps.map((_, row) => point(line, row)));
      const judged = lines.filter((line) => line.run.judged < line.steps.length).map((line) => point(line, line.run.judged)).filter(({ value }) => value !== null);
      const lost = lines.flatMap((line) => line.values.flatMap((value, row) => (!Number.isNaN(value) && Number.isNaN(line.values[row + 1]) ? [point(line, row)] : [])));
      const all_steps = lines.flatMap((line) => line.steps);
      const [first, last] = all_steps.length ? [smallest(all_steps), largest(all_steps)] : [0, 1];
      const x = quantity("step", [first, Math.max(last, first + 1)], { title: "Iteration", grid: false, tickCount: context.narrow ? 3 : 10, tickMinStep: 1, labelExpr: "nalmCount(datum.value)", labelFlush: true });
      const y = quantity("value", scale.domain, { ...scale.axis, minExtent: 44, maxExtent: 44 });
      const outcome = cell.goal ? { condition: { test: "datum.solved", value: colour("solved") }, value: colour("failed") } : { value: colour("solved") };
      const fade = (usual) => ({ condition: [{ test: "focus === datum.seed", value: 1 }, { test: "focus !== null", value: 0.15 }], value: usual });
      const layer = [
        { name: "curves", data: { values: rows }, mark: { type: "line", strokeJoin: "round" },
          encoding: { x, y, detail: { field: "seed", type: "nominal" }, stroke: outcome, strokeWidth: { condition: { test: "focus === datum.seed", value: 2.4 }, value: 1 }, opacity: fade(0.55),
            ...(cell.goal ? { strokeDash: { condition: { test: "datum.solved", value: [1, 0] }, value: [4, 2.5] } } : {}) } },
        { name: "median", data: { values: median_line() }, mark: { type: "line", strokeWidth: 3, strokeJoin: "round", color: colour("ink") }, encoding: { x, y } },
        { name: "lost", data: { values: lost }, mark: { type: "point", shape: SHAPES.saltire, size: 55, strokeWidth: 0 }, encoding: { x, y, fill: outcome, opacity: fade(0.8) } },
        { name: "judged", data: { values: judged }, mark: { type: "point", shape: SHAPES.circle, strokeWidth: 1.4 },
          encoding: { x, y, stroke: outcome, fill: { value: colour("paper") }, size: { condition: { test: "focus === datum.seed", value: 95 }, value: 34 }, opacity: fade(0.9) } },
      ].filter(({ data: { values } }) => values.length);
      // a line with a word beside it that stays readable over the curves
      const note = (name, where, words, beside, look) => {
        const text = (more) => ({ data: { values: [{}] }, mark: { type: "text", fontSize: 11, color: colour("threshold"), ...look, ...more }, encoding: { ...where, ...beside, text: { value: words } } });
        layer.push({ name, data: { values: [{}] }, mark: { type: "rule", strokeWidth: 1.4, strokeDash: [2, 3], color: colour("threshold") }, encoding: where },
          text({ stroke: colour("paper"), strokeWidth: 3, strokeJoin: "round" }), text({}));
      };
      if (limit !== null) {
        const level = scale.level(limit);
        const room = scale.domain[1] - level > 0.08 * (scale.domain[1] - scale.domain[0]);
        note("threshold", { y: { datum: level, type: "quantitative", scale: y.scale } }, `solved ${cell.goal.above ? "above" : "below"} ${exactly(limit)}`,
          { x: { value: "width" } }, { align: "right", baseline: room ? "bottom" : "top", dy: room ? -4 : 5 });
      }
      const from = cell.regularised_from;
      if (from !== null && from >= first && from <= last) {
        const left = from - first < 0.6 * (last - first);
        note("regularised", { x: { datum: from, type: "quantitative", scale: x.scale } }, "regularisers start",
          { y: { value: 2 } }, { align: left ? "left" : "right", baseline: "top", dx: left ? 5 : -5 });
      }
      if (!rows.length) layer.push({ data: { values: [{}] }, mark: { type: "text", fontSize: 12, color: colour("soft") }, encoding: { text: { value: "no runs yet" } } });
      return { title: { text: `${measure?.name ?? ""}${measure && !measure.span ? ", logarithmic" : ""}` }, params: [{ name: "focus", value: null }], width: context.width - 62, height: context.narrow ? 260 : 340, layer };
    };
    const figure = new Figure({
      id: "curves", title: "Learning curves", level: 3, build, reserve: 420,
      subtitle: () => [`${state.measure} of every run; the thick line is their median, a ring the row that is judged.`, `${data.title}. nalm ${data.version}`],
      keys: (context) => [...(state.chosen.goal ? [{ label: "solved", colour: context.colour("solved") }, { label: "not solved", colour: context.colour("failed"), dash: [4, 2.5] }] : [{ label: "a run", colour: context.colour("solved") }]),
        { label: "median", colour: context.colour("ink") }],
      describe: () => `${state.measure} over the iterations, a line per run and their median, of ${cell_name(state.chosen)}.`,
      drawn: (view, self) => {
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
      const [from, to] = [x(line.steps[before]), x(line.steps[after])];
      const part = to > from ? (across - from) / (to - from) : 0;
      const row = part < 0.5 ? before : after;
      if (levels.includes(null)) return null;
      return { line, row, distance: Math.hypot(y(levels[0] + part * (levels[1] - levels[0])) - down, Math.max(0, across - to, from - across)) };
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
        rows: [["Iteration", count(steps[row])], [state.measure, number(values[row])], ["Judged at", `${count(run.judged_at)} (ringed)`],
          ...(state.chosen.goal ? [["Outcome", outcome_text(state.chosen, run) + (run.solved_at !== null ? ` at ${count(run.solved_at)}` : "")]] : [])],
        note: run.note.length > 120 ? `${run.note.slice(0, 120)}\u2026` : run.note,
      }, event);
    };
    const fill_legend = () => figure.legend.replaceChildren(...(state.chosen.goal ? [
      make("span", { class: "note-key" }, make("i", { class: "line", style: "color: var(--solved)" }), "solved"),
      make("span", { class: "note-key" }, make("i", { class: "line dashed", style: "color: var(--failed)" }), "not solved")]
      : [make("span", { class: "note-key" }, make("i", { class: "line", style: "color: var(--solved)" }), "a run")]),
    make("span", { class: "note-key" }, make("i", { class: "line thick", style: "color: var(--ink)" }), "median"),
    make("span", { class: "note-key" }, key_symbol("circle", "fill: none; stroke: currentColor; stroke-width: .4"), "judged row"));
    return { figure, point_at, fill_legend };
  }

  // Every run a dot, with the quarters around the median; a panel per measure.
  function strip_figure() {
    const build = (context) => {
      const { colour } = context;
      const cell = state.chosen;
      const columns = Math.min(cell.measures.length, context.width >= 900 ? 3 : context.width >= 560 ? 2 : 1);
      const gap = 34;
      const width = Math.floor((context.width - 24 - gap * (columns - 1)) / columns);
      const panels = cell.measures.map((measure, m) => {
        const values = cell.seeds.map((run) => or_infinite(run.values[m]));
        const limit = cell.goal?.measure === measure.name && cell.goal.limit !== null ? [cell.goal.limit] : [];
        const theirs = published_for(cell, measure.name).map((figure) => figure.value);
        const share = measure.span?.[0] === 0 && measure.span[1] === 1;
        const scale = axis_of([...values, ...limit, ...theirs], { linear: Boolean(measure.span), span: share ? [0, 1] : [], limit: width < 260 ? 3 : 5 });
        const levels = values.map(scale.level);
        // spread over the height, the same every time
        const dots_of = cell.seeds.map((run, at) => ({ seed: run.seed, m, value: levels[at], at: ((at * 0.618034) % 1) - 0.5, solved: Boolean(cell.goal && run.success) }));
        const x = (name) => quantity(name, scale.domain, { ...scale.axis, grid: true, labelFlush: true, labelOverlap: "greedy" });
        const y = quantity("at", [-0.9, 0.9], null);
        const line = (name, list, look) => ({ name, data: { values: list.map((value) => ({ value })) }, mark: { type: "rule", ...look }, encoding: { x: x("value") } });
        const layer = [];
        if (values.length > 3) layer.push({ name: `box_${m}`, data: { values: [{ low: middle(levels, 0.25), high: middle(levels, 0.75), at: -0.75, to: 0.75 }] }, mark: { type: "rect", color: colour("grid") }, encoding: { x: x("low"), x2: { field: "high" }, y, y2: { field: "to" } } });
        layer.push(
          line(`limit_${m}`, limit.map(scale.level), { strokeWidth: 1.4, strokeDash: [2, 3], color: colour("threshold") }),
          line(`middle_${m}`, values.length ? [middle(levels, 0.5)] : [], { strokeWidth: 2.5, color: colour("ink") }),
          { name: `strip_${m}`, data: { values: dots_of }, mark: { type: "point", shape: SHAPES.circle, size: 42, strokeWidth: 0.6, opacity: 0.85, tooltip: { content: "data" } },
            encoding: { x: x("value"), y, stroke: { value: colour("paper") }, fill: cell.goal ? { condition: { test: "datum.solved", value: colour("solved") }, value: colour("failed") } : { value: colour("solved") } } },
          { name: `published_${m}`, data: { values: theirs.map((value) => ({ value: scale.level(value), at: 0 })) }, mark: { type: "point", shape: SHAPES.diamond, size: 80, strokeWidth: 1.5, opacity: 1 },
            encoding: { x: x("value"), y, fill: { value: "transparent" }, stroke: { value: colour("ink") } } });
        const words = cell.runs ? `median ${number(or_infinite(measure.median))}, MAD ${number(or_infinite(measure.mad))}${theirs.length ? `; published ${theirs.map(number).join(", ")}` : ""}` : "no runs yet";
        return { title: { text: measure.name, subtitle: wrap(words, Math.floor(width / 6)) }, width, height: 46, layer: layer.filter(({ data: { values: list } }) => list.length) };
      }).filter(({ layer }) => layer.length);
      return panels.length ? { concat: panels, columns, spacing: gap, resolve: { scale: { x: "independent", y: "independent" } } }
        : { data: { values: [{}] }, mark: { type: "text", color: colour("soft") }, encoding: { text: { value: "no runs yet" } }, width: 200, height: 40 };
    };
    const figure = new Figure({
      id: "values", title: "Judged values", level: 3, lead: "At the row that is judged, a dot per run; the box holds the middle half, the bar is the median. MAD: median of the absolute deviations from it.", build, reserve: 220,
      subtitle: () => [`Of every run of ${cell_name(state.chosen)}, at the row that is judged.`, `${data.title}. nalm ${data.version}`],
      keys: (context) => [...(state.chosen.goal ? [{ label: "solved", shape: "circle", colour: context.colour("solved") }, { label: "not solved", shape: "circle", colour: context.colour("failed") }] : []),
        ...(state.chosen.published.length ? [{ label: "published", shape: "diamond", colour: context.colour("ink"), fill: "#ffffff" }] : [])],
      describe: () => `Judged values of ${cell_name(state.chosen)}: ${state.chosen.measures.map((measure) => `${measure.name} median ${number(measure.median)}`).join(", ")}.`,
      tip: (row) => {
        const run = state.chosen.seeds.find((each) => each.seed === row.seed);
        return run ? { title: `Seed ${run.seed}`, rows: [[state.chosen.measures[row.m].name, number(run.values[row.m] ?? Infinity)], ...(state.chosen.goal ? [["Outcome", outcome_text(state.chosen, run)]] : [])] } : null;
      },
    });
    return figure;
  }

  function cell_section() {
    const curves = curve_figure();
    const strips = strip_figure();
    const selects = Object.fromEntries(["model", "operation", "setting"].map((part) => [part, make("select", { id: `choose-${part}`, onchange: () => pick(part) })]));
    const measure_select = make("select", { id: "choose-measure", onchange: () => { state.measure = measure_select.value; curves.figure.redraw(); } });
    // The cell with the part that was changed, and as much as possible of the others.
    const pick = (changed) => {
      const alike = (cell) => sum(PARTS, (part) => (cell[part] === selects[part].value ? 1 : 0));
      const wanted = cells.filter((cell) => cell[changed] === selects[changed].value).sort((a, b) => alike(b) - alike(a));
      choose(wanted[0], false);
    };
    const runs_title = make("h3", { class: "subhead", id: "runs-title" }, "Runs");
    const runs_holder = make("div");
    const fill_runs = () => {
      const cell = state.chosen;
      const has_note = cell.seeds.some((run) => run.note);
      const head = ["Seed", ...(cell.goal ? ["Solved", "Solved at"] : []), "Judged at", ...cell.measures.map(({ name }) => name)];
      runs_holder.replaceChildren(make("div", { class: "box short", role: "region", tabindex: "0", "aria-labelledby": "runs-title" },
        make("table", { class: "runs" },
          make("thead", null, make("tr", null, head.map((name) => make("th", { scope: "col", class: name === "Solved" ? null : "n" }, name)), has_note ? make("th", { scope: "col" }, "Found") : null)),
          make("tbody", null, cell.seeds.map((run) => make("tr", { "data-seed": run.seed, onpointerenter: () => curves.point_at(run.seed), onpointerleave: () => curves.point_at(null) },
            make("th", { scope: "row", class: "n" }, run.seed),
            cell.goal ? [make("td", null, run.success ? "yes" : "no"), make("td", { class: "n" }, run.solved_at === null ? none() : count(run.solved_at))] : null,
            make("td", { class: "n" }, run.judged_at === null ? none() : count(run.judged_at)),
            run.values.map((value) => make("td", { class: "n" }, value === null ? "not finite" : number(value))),
            has_note ? make("td", { class: "wrap" }, run.note) : null))))));
    };
    const empty = make("p", { class: "intro", hidden: true }, "This cell has no runs yet.");
    const published_words = (cell) => cell.published.filter((figure) => figure.what === "success").map((figure) => `published: ${percent(figure.value)}`);
    const refresh = () => {
      const cell = state.chosen;
      for (const [part, select] of Object.entries(selects)) {
        select.replaceChildren(...names[part].map((name) => make("option", { value: name }, name || "\u2013")));
        select.value = cell[part];
      }
      if (!cell.measures.some((measure) => measure.name === state.measure)) state.measure = cell.goal?.measure ?? cell.measures[0]?.name;
      measure_select.replaceChildren(...cell.measures.map(({ name }) => make("option", { value: name }, name)));
      measure_select.value = state.measure;
      curves.figure.title = `Learning curves: ${cell_name(cell)}`;
      curves.figure.heading.textContent = cell_name(cell);
      curves.figure.lead_line.textContent = cell.goal
        ? `${[`${cell.successes} of ${plural(cell.runs, "run", "runs")} solved`, ...published_words(cell)].join("; ")}. Solved: ${cell.goal.measure} ${cell.goal.above ? "above" : "below"} ${exactly(cell.goal.limit)} at the ${cell.goal.best_by ? `row with the smallest ${cell.goal.best_by}` : "last row"}.`
        : `${plural(cell.runs, "run", "runs")}; nothing is judged.`;
      empty.hidden = cell.runs > 0;
      for (const part of [curves.figure.element, strips.element, runs_title, runs_holder]) part.hidden = cell.runs === 0;
      curves.fill_legend();
      fill_runs();
      curves.figure.redraw();
      strips.redraw();
    };
    const title = make("h2", { id: "curves-title", tabindex: "-1" }, "Learning curves");
    const element = make("section", { id: "curves", "aria-labelledby": "curves-title" },
      title,
      make("p", { class: "intro" }, "A line per run, and their median. ", make("span", { class: "controls" }, "Point at a line for its values.")),
      make("div", { class: "fields controls" }, ["model", "operation", "setting"].filter((part) => names[part].length > 1).map((part) => field(part[0].toUpperCase() + part.slice(1), selects[part])), field("Measure", measure_select)),
      empty, curves.figure.element, strips.element, runs_title, runs_holder);
    return { element, refresh, title };
  }

  // ---- the page ------------------------------------------------------------------------------------------------
  const when = new Date(data.created);
  const day = Number.isNaN(when.getTime()) ? data.created
    : new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }).format(when);
  const total = sum(cells, (cell) => cell.runs);
  const judged = cells.filter((cell) => cell.goal);
  const compared = cells.flatMap((cell) => cell.published.filter((figure) => figure.agrees !== null));
  const agreeing = compared.filter((figure) => figure.agrees).length;
  const summary = `${[
    total ? `${plural(total, "run", "runs")} of ${plural(cells.length, "cell", "cells")}` : `No runs yet of ${plural(cells.length, "cell", "cells")}`,
    judged.length && total ? `${count(sum(judged, (cell) => cell.successes))} solved` : "",
    compared.length ? `the success rate agrees with the published one in ${agreeing} of ${plural(compared.length, "cell", "cells")}` : "",
    data.missing ? `${plural(data.missing, "run is", "runs are")} still missing` : "",
  ].filter(Boolean).join("; ")}.`;

  const overview = overview_section();
  const table = cell_table();
  const chosen = cell_section();
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  function choose(cell, go) {
    state.chosen = cell;
    hide_tip();
    table.mark_chosen();
    chosen.refresh();
    if (go) {
      chosen.title.focus({ preventScroll: true });
      document.getElementById("curves").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
    }
  }

  const page = document.getElementById("page");
  page.classList.add("task");
  page.append(
    make("header", { class: "masthead" },
      make("p", { class: "kicker" }, `${data.command || `nalm bench --task ${data.task}`} \u00b7 ${day}`),
      make("h1", null, data.title),
      make("p", { class: "summary", id: "summary" }, summary),
      make("p", { class: "standfirst" }, data.source),
      make("p", { class: "standfirst" }, `Preset ${data.preset}. What is measured: ${data.measures.map(({ name }) => name).join(", ")}. ${judged.length ? `Solved: ${data.goal}.` : "Nothing is judged."}`)),
    make("div", { class: "bar" },
      make("nav", { "aria-label": "Parts of the report" }, make("ul", null,
        [["overview", "Overview"], ["table", "Table"], ["curves", "Curves"], ["figure-values", "Values"], ["runs-title", "Runs"], ["settings", "Settings"]].map(([id, name]) => make("li", null, make("a", { href: `#${id}` }, name))))),
      make("div", { class: "options" }, nalm.theme_switch())),
    make("main", { id: "content" },
      overview, table.element, chosen.element,
      make("section", { id: "settings", "aria-labelledby": "settings-title" },
        make("h2", { id: "settings-title" }, "Settings"),
        make("p", { class: "intro" }, data.settings),
        data.differences.length ? [make("h3", { class: "subhead" }, "Differences from the papers"), make("ul", { class: "notes" }, data.differences.map((text) => make("li", null, text)))] : null,
        make("h3", { class: "subhead" }, "How it was made"),
        make("dl", { class: "facts" }, data.facts.map(([name, value]) => [make("dt", null, name), make("dd", null, value)])))),
    nalm.footer(`nalm ${data.version}. Made with ${data.command || "nalm bench"}, ${day}.`));

  // Begin with a cell that shows both outcomes, if there is one.
  const evenness = (cell) => (!cell.runs ? 3 : !cell.goal ? 2 : Math.abs(cell.successes / cell.runs - 0.5));
  choose([...cells].sort((a, b) => evenness(a) - evenness(b))[0], false);
  nalm.start();
})();
