// The report of a benchmark: a figure per operation, all cells as a table, the learning curves and the failures of a
// chosen cell. The shell provides `nalm`; the data are described in the C++ file that writes them.
"use strict";
(() => {
  const { make, count, number, signed, decades, wrap, SHAPES, key_symbol, show_tip, hide_tip, Figure, MINUS } = nalm;

  // Lists are made complete with what only the cells name.
  const complete = (list, key) => [...new Set([...(list ?? []), ...nalm.data.cells.map((cell) => cell[key])])];
  const data = {
    ...nalm.data, operations: complete(nalm.data.operations, "operation"), modules: complete(nalm.data.modules, "module"), ranges: complete(nalm.data.ranges, "range"),
  };

  // ---- names and looks -----------------------------------------------------------------------------------------
  const OPERATIONS = {
    add: ["Addition", "+"], sub: ["Subtraction", MINUS], mul: ["Multiplication", "\u00d7"], div: ["Division", "\u00f7"],
  };
  const operation_name = (operation) => OPERATIONS[operation]?.[0] ?? operation;
  const operation_sign = (operation) => OPERATIONS[operation]?.[1] ?? "";

  // A module looks the same in every report; a module unknown to this list takes the next free look.
  const KNOWN = ["NAC+", "NAC*", "NALU", "iNALU", "G-NALU", "NAU", "NMU", "NPU", "RealNPU"];
  const SHAPE_NAMES = ["circle", "saltire", "square", "up", "diamond", "down", "plus", "star", "hexagon", "right", "left", "pentagon"];
  const unknown = data.modules.filter((module) => !KNOWN.includes(module));
  const look_of = (module) => {
    const known = KNOWN.indexOf(module);
    const index = known >= 0 ? known : KNOWN.length + unknown.indexOf(module);
    return { name: `m${index % 12}`, shape: SHAPE_NAMES[(index + Math.floor(index / 12) * 5) % SHAPE_NAMES.length] };
  };
  const looks = new Map(data.modules.map((module) => [module, look_of(module)]));
  const module_symbol = (module) => key_symbol(looks.get(module).shape, `fill: var(--${looks.get(module).name})`);

  const cells = data.cells.map((cell, index) => ({ ...cell, index }));
  const cell_name = (cell) => `${cell.module}, ${operation_name(cell.operation).toLowerCase()}, ${cell.range}`;
  const find_cell = (operation, module, range) =>
    cells.find((cell) => cell.operation === operation && cell.module === module && cell.range === range);
  const modules_of = (operation) => data.modules.filter((module) => cells.some((cell) => cell.operation === operation && cell.module === module));
  const ranges_of = (operation) => data.ranges.filter((range) => cells.some((cell) => cell.operation === operation && cell.range === range));
  const operations = data.operations.filter((operation) => cells.some((cell) => cell.operation === operation));
  const any_published = cells.some((cell) => cell.published);
  // Whether looking at any step, or at the last one, would tell something else than the best step.
  const any_other = cells.some((cell) => (cell.ever ?? cell.successes) !== cell.successes || (cell.at_end ?? cell.successes) !== cell.successes);
  const sum = (list, value) => list.reduce((total, each) => total + value(each), 0);
  const percent = (share) => `${number(Math.round(share * 1000) / 10)}\u202f%`;
  const plural = (value, one, many) => `${count(value)} ${value === 1 ? one : many}`;

  const state = { hidden: new Set(), published: any_published, chosen: null, metric: "validation" };

  // The published interval, or its estimate where it has none, against ours.
  const disagrees = (cell) => {
    const theirs = cell.published?.success;
    if (!theirs) return false;
    const [estimate, low, high] = theirs;
    // the published bounds have two decimals
    return (high ?? estimate) + 0.005 < cell.success[1] || (low ?? estimate) - 0.005 > cell.success[2];
  };
  const difference = (cell) => (cell.published?.success ? cell.successes - Math.round(cell.published.success[0] * cell.runs) : null);

  // ---- a figure per operation ----------------------------------------------------------------------------------
  const PANELS = [
    { key: "success", title: "Success rate", unit: "% of runs", from: (value) => value * 100, text: (value) => percent(value) },
    { key: "solved_at", title: "Solved at", unit: "iteration, mean of the solved runs", from: (value) => value, text: (value) => count(value) },
    { key: "sparsity", title: "Sparsity error", unit: "of the solved runs, logarithmic", from: (value) => value, text: (value) => number(value) },
  ];
  const interval_text = (panel, [, low, high]) =>
    low === null || low === undefined || high === null || high === undefined ? "" : `${panel.text(low)} to ${panel.text(high)}`;

  function operation_figure(operation) {
    const own = cells.filter((cell) => cell.operation === operation);
    const ranges = ranges_of(operation);
    const all_modules = modules_of(operation);
    const shown = () => all_modules.filter((module) => !state.hidden.has(module));
    const totals = all_modules
      .map((module) => ({ module, solved: sum(own, (cell) => (cell.module === module ? cell.successes : 0)), runs: sum(own, (cell) => (cell.module === module ? cell.runs : 0)) }))
      .sort((a, b) => b.solved / b.runs - a.solved / a.runs);
    // Modules that are equally good share a place; a long list is cut.
    const tell = (place) => {
      const equal = totals.filter((other) => other.solved / other.runs === place.solved / place.runs);
      const names = equal.slice(0, 4).map(({ module }) => module);
      if (equal.length > 4) names.push(`${equal.length - 4} more`);
      const list = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
      return `${list} (${count(place.solved)} of ${plural(place.runs, "run", "runs")}${equal.length > 1 ? " each" : ""})`;
    };
    const all_equal = totals.every(({ solved, runs }) => solved / runs === totals[0].solved / totals[0].runs);
    const lead = totals.length > 1
      ? (all_equal ? `Solved equally often by ${tell(totals[0])}.` : `Most often solved by ${tell(totals[0])}, least often by ${tell(totals.at(-1))}.`)
      : `${totals[0].module} solved ${count(totals[0].solved)} of ${plural(totals[0].runs, "run", "runs")}.`;

    // The marks of one panel. `published` stands a little to the right of ours.
    const marks = (panel, source, context) => {
      const visible = shown();
      const shift = state.published ? (source === "ours" ? -0.19 : 0.21) : 0;
      const rows = [];
      for (const cell of own) {
        if (state.hidden.has(cell.module)) continue;
        const triple = source === "ours" ? cell[panel.key] : cell.published?.[panel.key];
        if (!triple || triple[0] === null) continue;
        const [estimate, low, high] = triple.map((value) => (value === null ? null : panel.from(value)));
        const { name, shape } = looks.get(cell.module);
        const colour = context.colour(name);
        rows.push({
          cell: cell.index, panel: panel.key, source, module: cell.module, range: cell.range, at: visible.indexOf(cell.module) + shift,
          value: estimate, low: low ?? estimate, high: high ?? estimate, colour, path: SHAPES[shape],
        });
      }
      return rows;
    };
    // Logarithms for the sparsity error. Zero has a line of its own below the others.
    const logarithmic = (rows) => {
      const positive = rows.flatMap((row) => [row.value, row.low, row.high]).filter((value) => value > 0);
      const smallest = Math.min(...rows.map((row) => row.value).filter((value) => value > 0));
      let low = positive.length ? Math.floor(Math.log10(Math.max(Math.min(...positive), smallest / 100))) : -6;
      const high = positive.length ? Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive)))) : 0;
      if (high - low < 2) low -= 1;
      const zero = rows.some((row) => row.value <= 0) ? low - 0.12 * (high - low) : null;
      const level = (value) => (value > 0 ? Math.max(low, Math.log10(value)) : zero ?? low);
      return { rows: rows.map((row) => ({ ...row, value: level(row.value), low: level(row.low), high: level(row.high) })), low, high, zero };
    };

    const build = (context) => {
      const { narrow, colour } = context;
      const visible = shown();
      const label_room = 92;
      const value_room = 50;
      const panel_width = context.width - (narrow ? label_room + 12 : value_room + 10);
      const slot = narrow ? (state.published ? 10 : 8) : 0;
      const label_width = Math.floor((narrow ? label_room : panel_width / ranges.length) / 6.6);
      const label_lines = ranges.map((range) => wrap(range, label_width).length);
      const row_height = Math.max(30, Math.max(visible.length, 1) * slot * 1.12, 13 * Math.max(...label_lines) + 10);
      const across = narrow ? ranges.length * row_height : panel_width;
      const along = narrow ? panel_width : context.printing ? 106 : 158;
      const [category, quantity] = narrow ? ["y", "x"] : ["x", "y"];

      const panel_spec = (panel, position) => {
        let rows = [...marks(panel, "ours", context), ...(state.published ? marks(panel, "published", context) : [])];
        let domain = [0, 100];
        let ticks = [0, 25, 50, 75, 100];
        let label = "datum.label + ''";
        if (panel.key === "solved_at") {
          const top = Math.max(1, data.steps.at(-1), ...rows.map((row) => row.high));
          domain = [0, top];
          ticks = undefined;
          label = "nalmCount(datum.value)";
        } else if (panel.key === "sparsity") {
          const scaled = logarithmic(rows);
          rows = scaled.rows;
          domain = [scaled.zero ?? scaled.low, scaled.high];
          ticks = [...(scaled.zero === null ? [] : [scaled.zero]), ...decades(scaled.low, scaled.high, narrow ? 4 : 6)];
          label = `datum.value === ${scaled.zero} ? '0' : nalmPower(datum.value)`;
        }
        const last = position === PANELS.length - 1 || narrow;
        const category_axis = {
          title: null, grid: true, tickBand: "extent", domain: false, ticks: false, labels: last, labelAngle: 0, labelLimit: narrow ? label_room : 0,
          labelPadding: 6, labelExpr: `nalmWrap(datum.label, ${label_width})`, labelOverlap: false, labelColor: colour("ink"), labelFontSize: narrow ? 10.5 : 11.5,
          ...(narrow ? { minExtent: label_room, maxExtent: label_room } : {}),
          // a label of several lines begins above the middle of its row
          ...(narrow && Math.max(...label_lines) > 1
            ? { labelOffset: { condition: ranges.map((range, index) => ({ test: `datum.value === ${JSON.stringify(range)}`, value: -6.25 * (label_lines[index] - 1) })), value: 0 } } : {}),
        };
        const quantity_axis = {
          title: null, grid: true, domain: false, ticks: false, labelExpr: label, ...(ticks ? { values: ticks } : { tickCount: 4 }),
          ...(narrow ? { labelFlush: true } : { minExtent: value_room, maxExtent: value_room }),
        };
        const base = {
          [category]: { field: "range", type: "nominal", scale: { domain: ranges, paddingInner: 0.16, paddingOuter: 0.08 }, axis: category_axis },
          [`${category}Offset`]: { field: "at", type: "quantitative", scale: { domain: [-0.5, Math.max(visible.length, 1) - 0.5], zero: false, nice: false } },
        };
        const plain = (field) => ({ field, type: "nominal", scale: null });
        const value = (field) => ({ field, type: "quantitative", scale: { domain, nice: false, zero: false }, axis: quantity_axis });
        const of_source = (source) => ({ values: rows.filter((row) => row.source === source) });
        const rules = (source) => ({
          name: `${panel.key}_${source}_bars`, data: of_source(source),
          mark: { type: "rule", strokeWidth: source === "ours" ? 1.8 : 1, opacity: source === "ours" ? 0.75 : 0.7, strokeCap: "round", tooltip: { content: "data" } },
          encoding: { ...base, [quantity]: value("low"), [`${quantity}2`]: { field: "high" }, stroke: plain("colour") },
        });
        const points = (source) => ({
          name: `${panel.key}_${source}`, data: of_source(source),
          mark: { type: "point", opacity: 1, size: source === "ours" ? (narrow ? 52 : 72) : (narrow ? 30 : 40), strokeWidth: source === "ours" ? 0.7 : 1.1, tooltip: { content: "data" } },
          encoding: {
            ...base, [quantity]: value("value"), shape: plain("path"),
            stroke: source === "ours" ? { value: colour("paper") } : plain("colour"),
            fill: source === "ours" ? plain("colour") : { value: colour("paper") },
          },
        });
        const layer = state.published ? [rules("published"), rules("ours"), points("published"), points("ours")] : [rules("ours"), points("ours")];
        if (!rows.length) {
          const middle = (size) => ({ value: size / 2 });
          layer.push({ data: { values: [{}] }, mark: { type: "text", fontSize: 12, color: colour("soft") },
            encoding: { x: middle(narrow ? along : across), y: middle(narrow ? across : along), text: { value: visible.length ? "no run was solved" : "all modules are hidden" } } });
        }
        const title = { text: panel.title, subtitle: panel.unit, offset: 8 };
        return narrow ? { title, width: along, height: across, layer } : { title, width: across, height: along, layer };
      };
      return { vconcat: PANELS.map(panel_spec), spacing: narrow ? 26 : context.printing ? 12 : 20 };
    };

    const figure = new Figure({
      id: operation, title: operation_name(operation), level: 3, lead, build, reserve: 700,
      subtitle: () => [
        `By the range the inputs are drawn from. ${data.title}.`,
        `Filled marks: this benchmark, with 95 % intervals.${state.published ? " Hollow marks: published values." : ""} ${data.version}`,
      ],
      keys: (context) => shown().map((module) => ({ label: module, shape: looks.get(module).shape, colour: context.colour(looks.get(module).name) })),
      describe: () => `${operation_name(operation)}: success rate, iteration solved at and sparsity error of ${shown().join(", ")} over ${plural(ranges.length, "range", "ranges")} of inputs. ${lead} The table of all cells holds the numbers.`,
      tip: (row) => {
        const cell = cells[row.cell];
        const panel = PANELS.find((each) => each.key === row.panel);
        const rows = [];
        if (cell[panel.key]) {
          rows.push([panel.title, panel.text(cell[panel.key][0])]);
          if (interval_text(panel, cell[panel.key])) rows.push(["95 % interval", interval_text(panel, cell[panel.key])]);
          if (cell[panel.key].length > 3 && cell[panel.key][3] !== null) rows.push(["Median", panel.text(cell[panel.key][3])]);
        }
        const theirs = cell.published?.[panel.key];
        if (theirs) rows.push(["Published", panel.text(theirs[0]) + (interval_text(panel, theirs) ? ` (${interval_text(panel, theirs)})` : "")]);
        rows.push(["Runs solved", `${cell.successes} of ${cell.runs}`]);
        return { title: `${cell.module} on ${cell.range}`, rows, note: "Click for its learning curves" };
      },
      drawn: (view, self) => {
        self.plot.dataset.clickable = "";
        view.addEventListener("click", (event, item) => { if (item?.datum?.cell !== undefined) choose(cells[item.datum.cell], true); });
      },
    });
    const fill_legend = () => {
      figure.legend.replaceChildren(
        ...all_modules.map((module) => make("button", {
          type: "button", class: "key", "data-module": module, "aria-pressed": String(!state.hidden.has(module)), title: "Show or hide in all figures",
          onclick: () => {
            if (!state.hidden.delete(module)) state.hidden.add(module);
            apply();
            figure.legend.querySelector(`[data-module="${CSS.escape(module)}"]`)?.focus();
          },
        }, module_symbol(module), module)),
        ...(all_modules.some((module) => state.hidden.has(module))
          ? [make("button", { type: "button", class: "quiet controls", onclick: () => { state.hidden.clear(); apply(); figure.legend.querySelector("button").focus(); } }, "Show all")] : []),
        ...(state.published ? [make("span", { class: "note-key" }, key_symbol("circle", "fill: none; stroke: currentColor; stroke-width: .4"), "hollow: published")] : []));
    };
    figure.fill_legend = fill_legend;
    fill_legend();
    return figure;
  }

  // ---- the table of all cells ----------------------------------------------------------------------------------
  function gauge(cell) {
    const [estimate, low = estimate, high = estimate] = cell.success.map((value) => value ?? undefined);
    const theirs = cell.published?.success;
    const place = (share) => `${(share * 100).toFixed(1)}%`;
    return make("span", { class: "gauge", "aria-hidden": "true", style: `--gauge: var(--${looks.get(cell.module).name})` },
      make("i", { style: `left:${place(low)};width:${place(Math.max(0, high - low))}` }),
      theirs ? make("u", { style: `left:${place(theirs[0])}` }) : null,
      make("b", { style: `left:${place(estimate)}` }));
  }
  const main_failure = (cell) => Object.entries(cell.failures ?? {}).sort((a, b) => b[1] - a[1])[0];
  const spread = (panel, triple) => (interval_text(panel, triple) ? make("span", { class: "interval" }, ` ${interval_text(panel, triple).replace(" to ", "\u2013").replaceAll("\u202f%", "")}`) : null);
  const none = () => make("span", { class: "interval" }, "\u2013");
  const COLUMNS = [
    { name: "Operation", sort: (cell) => data.operations.indexOf(cell.operation), show: (cell) => [`${operation_sign(cell.operation)} `, make("span", { class: operation_sign(cell.operation) ? "word" : null }, operation_name(cell.operation))] },
    { name: "Module", sort: (cell) => data.modules.indexOf(cell.module), show: (cell) => make("span", { class: "module" }, module_symbol(cell.module), cell.module) },
    { name: "Range", head: true, sort: (cell) => data.ranges.indexOf(cell.range),
      show: (cell) => make("button", { type: "button", class: "row-button", "aria-label": `Learning curves of ${cell_name(cell)}` }, cell.range) },
    { name: "Solved", numeric: true, sort: (cell) => cell.successes / cell.runs, show: (cell) => `${cell.successes}/${cell.runs}` },
    { name: "Ever", numeric: true, extra: true, sort: (cell) => cell.ever ?? null, show: (cell) => (cell.ever === null ? none() : `${cell.ever}`) },
    { name: "At end", numeric: true, extra: true, sort: (cell) => cell.at_end ?? null, show: (cell) => (cell.at_end === null ? none() : `${cell.at_end}`) },
    { name: "Success", sort: (cell) => cell.success[0], show: (cell) => [gauge(cell), make("span", { class: "estimate" }, percent(cell.success[0])), spread(PANELS[0], cell.success)] },
    { name: "Published", published: true, numeric: true, sort: (cell) => cell.published?.success?.[0] ?? null, show: (cell) => (cell.published?.success ? percent(cell.published.success[0]) : none()) },
    { name: "Difference in runs", published: true, numeric: true, sort: difference,
      show: (cell) => (difference(cell) === null ? none() : make("span", { class: disagrees(cell) ? "differs" : null }, signed(difference(cell)), disagrees(cell) ? "\u202f*" : "")) },
    { name: "Solved at", numeric: true, sort: (cell) => cell.solved_at?.[0] ?? null, show: (cell) => (cell.solved_at ? [count(cell.solved_at[0]), spread(PANELS[1], cell.solved_at)] : none()) },
    { name: "Published", id: "Published solved at", published: true, numeric: true, sort: (cell) => cell.published?.solved_at?.[0] ?? null, show: (cell) => (cell.published?.solved_at ? count(cell.published.solved_at[0]) : none()) },
    { name: "Sparsity error", numeric: true, sort: (cell) => cell.sparsity?.[0] ?? null, show: (cell) => (cell.sparsity ? [number(cell.sparsity[0]), spread(PANELS[2], cell.sparsity)] : none()) },
    { name: "Published", id: "Published sparsity error", published: true, numeric: true, sort: (cell) => cell.published?.sparsity?.[0] ?? null, show: (cell) => (cell.published?.sparsity ? number(cell.published.sparsity[0]) : none()) },
    { name: "Most frequent failure", sort: (cell) => main_failure(cell)?.[0] ?? null, show: (cell) => (main_failure(cell) ? `${main_failure(cell)[0]} (${main_failure(cell)[1]})` : none()) },
  ].filter((column) => (any_published || !column.published) && (any_other || !column.extra));

  // Orders items by a column; what has no value comes last either way.
  const sorted = (items, value, direction) => [...items].sort((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === null || right === null) return (left === null) - (right === null);
    return (left < right ? -1 : left > right ? 1 : 0) * direction;
  });
  const option = (value, text) => make("option", { value }, text);
  const field = (name, select) => make("label", { class: "field" }, make("span", null, name), select);

  function cell_table() {
    const body = make("tbody");
    const row_of = new Map();
    let sorting = { column: null, direction: 1 };
    const fill = () => {
      for (const cell of cells) {
        const row = make("tr", { "data-cell": cell.index }, COLUMNS.map((column) =>
          make(column.head ? "th" : "td", { class: column.numeric ? "n" : null, scope: column.head ? "row" : null }, column.show(cell))));
        row_of.set(cell, row);
      }
      arrange();
      mark_chosen();
    };
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !String(getSelection())) choose(cells[Number(row.dataset.cell)], true);
    });
    const heads = COLUMNS.map((column) => make("th", { scope: "col", class: column.numeric ? "n" : null, "data-column": column.id ?? column.name, "data-name": column.name },
      make("button", { type: "button", "aria-label": `Sort by ${(column.id ?? column.name).toLowerCase()}`, onclick: () => {
        // numbers are read best from the largest down
        const first = column.numeric || column.name === "Success" ? -1 : 1;
        sorting = { column, direction: sorting.column === column ? -sorting.direction : first };
        arrange();
      } }, column.name)));
    const operation_filter = make("select", { onchange: () => arrange() }, option("", "All operations"), operations.map((each) => option(each, operation_name(each))));
    const module_filter = make("select", { onchange: () => arrange() }, option("", "All modules"), data.modules.map((each) => option(each, each)));
    const agreement_filter = make("select", { onchange: () => arrange() }, option("", "All cells"), option("differs", "Those marked *"));
    const tally = make("p", { class: "tally", role: "status" });
    function arrange() {
      const wanted = cells.filter((cell) =>
        (!operation_filter.value || cell.operation === operation_filter.value) &&
        (!module_filter.value || cell.module === module_filter.value) &&
        (!agreement_filter.value || disagrees(cell)));
      const order = sorting.column ? sorted(wanted, sorting.column.sort, sorting.direction) : wanted;
      body.replaceChildren(...order.map((cell) => row_of.get(cell)));
      COLUMNS.forEach((column, index) => {
        if (column === sorting.column) heads[index].setAttribute("aria-sort", sorting.direction > 0 ? "ascending" : "descending");
        else heads[index].removeAttribute("aria-sort");
      });
      tally.textContent = `${plural(wanted.length, "cell", "cells")}, ${count(sum(wanted, (cell) => cell.successes))} of ${plural(sum(wanted, (cell) => cell.runs), "run", "runs")} solved`;
    }
    nalm.later(fill);
    const element = make("section", { id: "table", "aria-labelledby": "table-title" },
      make("h2", { id: "table-title" }, "All cells"),
      make("p", { class: "intro" }, "Intervals follow the estimates in grey. ",
        any_other ? "Solved: at the step with the smallest validation error; ever: at any logged step; at end: at the last one. " : "",
        any_published ? "The dark tick on a gauge is the published success rate; an asterisk marks cells whose interval does not overlap the published one. " : "",
        make("span", { class: "controls" }, "Choose a row to see its learning curves.")),
      make("div", { class: "fields controls" },
        field("Operation", operation_filter), field("Module", module_filter), any_published ? field("Agreement", agreement_filter) : null, tally),
      make("div", { class: "box", role: "region", tabindex: "0", "aria-label": "Table of all cells, scrolls sideways" },
        make("table", { class: "cells" }, make("thead", null, make("tr", null, heads)), body)));
    const mark_chosen = () => {
      for (const [cell, row] of row_of) row.classList.toggle("chosen", cell === state.chosen);
    };
    return { element, mark_chosen };
  }

  // ---- learning curves of the chosen cell ----------------------------------------------------------------------
  const METRICS = { validation: "Validation error", test: "Test error", sparsity: "Sparsity error" };
  const METRIC_INDEX = { validation: 0, test: 1, sparsity: 2 };
  const ABSENT = -32768;
  const ZERO = -32767;
  const INFINITE = 32767;
  const decoded = new Map();
  // values[(seed * steps + step) * 3 + metric], thousandths of a decade
  function curves_of(cell) {
    if (!decoded.has(cell)) {
      const bytes = Uint8Array.from(atob(cell.curves ?? ""), (character) => character.charCodeAt(0));
      const view = new DataView(bytes.buffer);
      decoded.set(cell, Int16Array.from({ length: Math.floor(bytes.length / 2) }, (_, index) => view.getInt16(2 * index, true)));
    }
    return decoded.get(cell);
  }
  const exact = (code) => (code === ABSENT ? NaN : code === ZERO ? 0 : code === INFINITE ? Infinity : 10 ** (code / 1000));

  function curve_section() {
    let steps = data.steps;  // of the chosen cell: as many as it has values for
    let lines = [];  // of the drawing: { run, codes }
    let any_lost = false;
    let frame = null;  // { low, high, zero, top } in decades
    const gather = () => {
      const cell = state.chosen;
      const codes = curves_of(cell);
      const metric = METRIC_INDEX[state.metric];
      steps = data.steps.slice(0, Math.max(1, Math.round(codes.length / 3 / Math.max(1, cell.seeds.length))));
      lines = cell.seeds.map((run, index) => ({
        run, codes: steps.map((_, step) => codes[(index * steps.length + step) * 3 + metric] ?? ABSENT),
      }));
      const finite = lines.flatMap((line) => line.codes.filter((code) => code !== ABSENT && code !== ZERO && code !== INFINITE));
      if (state.metric === "test" && cell.threshold > 0) finite.push(1000 * Math.log10(cell.threshold));
      let low = finite.length ? Math.floor(finite.reduce((a, b) => Math.min(a, b)) / 1000) : -1;
      let high = finite.length ? Math.ceil(finite.reduce((a, b) => Math.max(a, b)) / 1000) : 1;
      if (high - low < 2) { low -= 1; high = Math.max(high, low + 2); }
      const margin = Math.max(0.8, (high - low) * 0.09);
      const has = (code) => lines.some((line) => line.codes.includes(code));
      frame = { low, high, zero: has(ZERO) ? low - margin : null, top: has(INFINITE) ? high + margin : null };
    };
    const height_of = (code) => (code === ABSENT ? null : code === ZERO ? frame.zero : code === INFINITE ? frame.top : code / 1000);

    const build = (context) => {
      gather();
      const cell = state.chosen;
      const { colour } = context;
      const rows = lines.flatMap(({ run, codes }) => codes.map((code, step) => ({ seed: run.seed, step: steps[step], value: height_of(code), solved: run.success })));
      const best = lines.flatMap(({ run, codes }) => {
        const step = steps.indexOf(run.best_step);
        return step >= 0 && codes[step] !== ABSENT ? [{ seed: run.seed, step: run.best_step, value: height_of(codes[step]), solved: run.success }] : [];
      });
      // the last value of a run before it is no longer a number
      const lost = lines.flatMap(({ run, codes }) => codes.flatMap((code, step) =>
        (code !== ABSENT && codes[step + 1] === ABSENT ? [{ seed: run.seed, step: steps[step], value: height_of(code), solved: run.success }] : [])));
      any_lost = lost.length > 0;
      const domain = [frame.zero ?? frame.low, frame.top ?? frame.high];
      const ticks = decades(frame.low, frame.high, 8).filter((tick) => tick >= frame.low);
      const extra = [frame.zero, frame.top].filter((tick) => tick !== null);
      const label = `datum.value === ${frame.zero ?? "null"} ? '0' : datum.value === ${frame.top ?? "null"} ? '∞' : nalmPower(datum.value)`;
      const x = { field: "step", type: "quantitative", scale: { domain: [steps[0], Math.max(steps.at(-1), steps[0] + 1)], nice: false },
        axis: { title: "Iteration", grid: false, tickCount: context.narrow ? 3 : 10, labelExpr: "nalmCount(datum.value)", labelFlush: true } };
      const y = { field: "value", type: "quantitative", scale: { domain, nice: false, zero: false },
        axis: { title: null, values: [...ticks, ...extra], labelExpr: label, domain: false, ticks: false, minExtent: 36, maxExtent: 36 } };
      const outcome = { condition: { test: "datum.solved", value: colour("solved") }, value: colour("failed") };
      const focus = { name: "focus", value: null };
      const fade = { condition: [{ test: "focus === datum.seed", value: 1 }, { test: "focus !== null", value: 0.18 }], value: 0.75 };
      const layer = [
        { name: "curves", data: { values: rows },
          mark: { type: "line", interpolate: "linear", strokeJoin: "round", clip: false },
          encoding: { x, y, detail: { field: "seed", type: "nominal" }, stroke: outcome,
            strokeDash: { condition: { test: "datum.solved", value: [1, 0] }, value: [4, 2.5] },
            strokeWidth: { condition: { test: "focus === datum.seed", value: 2.6 }, value: 1.2 },
            opacity: fade } },
        { name: "lost", data: { values: lost }, mark: { type: "point", shape: SHAPES.saltire, size: 60, strokeWidth: 0 },
          encoding: { x, y, fill: outcome, opacity: fade } },
        { name: "best", data: { values: best }, transform: [{ filter: "focus === datum.seed" }],
          mark: { type: "point", size: 90, opacity: 1, strokeWidth: 2 },
          encoding: { x, y, stroke: outcome, fill: { value: colour("paper") } } },
      ];
      if (state.metric === "test" && cell.threshold > 0) {
        const at = { datum: Math.log10(cell.threshold), type: "quantitative", scale: { domain, nice: false, zero: false } };
        layer.push(
          { name: "threshold", data: { values: [{}] }, mark: { type: "rule", strokeWidth: 1.4, strokeDash: [2, 3], color: colour("threshold") }, encoding: { y: at } },
          { data: { values: [{}] }, mark: { type: "text", align: "right", baseline: "bottom", dy: -4, fontSize: 11, color: colour("threshold"), stroke: colour("paper"), strokeWidth: 3, strokeJoin: "round" },
            encoding: { y: at, x: { value: "width" }, text: { value: `threshold ${number(cell.threshold)}` } } },
          { data: { values: [{}] }, mark: { type: "text", align: "right", baseline: "bottom", dy: -4, fontSize: 11, color: colour("threshold") },
            encoding: { y: at, x: { value: "width" }, text: { value: `threshold ${number(cell.threshold)}` } } });
      }
      return { title: { text: METRICS[state.metric] + ", logarithmic" }, params: [focus], width: context.width - 56, height: context.narrow ? 260 : 340, layer };
    };

    const solved_text = () => `${state.chosen.successes} of ${plural(state.chosen.runs, "run", "runs")} solved`;
    const figure = new Figure({
      id: "curves", title: "Learning curves", level: 3, build, reserve: 420,
      subtitle: () => [`${METRICS[state.metric]} of every seed; ${solved_text()}.${state.metric === "test" ? ` Solved: ${data.criterion}.` : ""}`, data.version],
      keys: (context) => [
        { label: "solved", colour: context.colour("solved") }, { label: "not solved", colour: context.colour("failed"), dash: [4, 2.5] },
        ...(any_lost ? [{ label: "no longer a number", shape: "saltire", colour: context.colour("failed") }] : [])],
      describe: () => `${METRICS[state.metric]} over the iterations, a line per seed, of ${cell_name(state.chosen)}: ${solved_text()}.`,
      drawn: (view, self) => {
        lost_key.hidden = !any_lost;
        if (self.listening) return;
        self.listening = true;
        self.plot.addEventListener("pointermove", (event) => hover(event));
        self.plot.addEventListener("pointerleave", () => { point_at(null); hide_tip(); });
      },
    });
    const lost_key = make("span", { class: "note-key" }, key_symbol("saltire", "fill: var(--failed)"), "no longer a number");
    figure.legend.append(
      make("span", { class: "note-key" }, make("i", { class: "line", style: "color: var(--solved)" }), "solved"),
      make("span", { class: "note-key" }, make("i", { class: "line dashed", style: "color: var(--failed)" }), "not solved"), lost_key);

    const point_at = (seed) => {
      if (!figure.old || figure.old.signal("focus") === seed) return;
      figure.old.signal("focus", seed).run();
    };
    // The line nearest to the pointer at the step nearest to it.
    const hover = (event) => {
      if (!figure.old || figure.dirty) return;
      const [across, down] = figure.position(event);
      const x = figure.old.scale("x");
      const y = figure.old.scale("y");
      const [left, right] = x.range();
      const [bottom] = y.range();
      if (across < left - 8 || across > right + 8 || down < -8 || down > bottom + 8) { point_at(null); hide_tip(); return; }
      const at = x.invert(across);
      const step = steps.reduce((best, each, index) => (Math.abs(each - at) < Math.abs(steps[best] - at) ? index : best), 0);
      let nearest = null;
      for (const line of lines) {
        const height = height_of(line.codes[step]);
        if (height === null) continue;
        const distance = Math.abs(y(height) - down);
        if (!nearest || distance < nearest.distance) nearest = { line, distance };
      }
      if (!nearest || nearest.distance > 48) { point_at(null); hide_tip(); return; }
      const { run, codes } = nearest.line;
      point_at(run.seed);
      show_tip({
        title: `Seed ${run.seed}`,
        rows: [
          ["Iteration", count(steps[step])], [METRICS[state.metric], number(exact(codes[step]))],
          ["Best iteration", `${count(run.best_step)} (ringed)`], ["Outcome", run.success ? `solved${run.solved_at !== null && run.solved_at !== undefined ? ` at ${count(run.solved_at)}` : ""}` : run.failure ?? "not solved"],
        ],
      }, event);
    };

    // drop-downs that only offer what exists
    const operation_select = make("select", { id: "choose-operation", onchange: () => pick("operation") }, operations.map((each) => option(each, operation_name(each))));
    const module_select = make("select", { id: "choose-module", onchange: () => pick("module") });
    const range_select = make("select", { id: "choose-range", onchange: () => pick("range") });
    const pick = (changed) => {
      const operation = operation_select.value;
      const modules = modules_of(operation);
      const module = changed === "operation" ? (modules.includes(state.chosen.module) ? state.chosen.module : modules[0]) : module_select.value;
      const wanted = find_cell(operation, module, changed === "range" ? range_select.value : state.chosen.range);
      choose(wanted ?? cells.find((cell) => cell.operation === operation && cell.module === module), false);
    };
    const fill_selects = () => {
      const cell = state.chosen;
      operation_select.value = cell.operation;
      module_select.replaceChildren(...modules_of(cell.operation).map((each) => option(each, each)));
      module_select.value = cell.module;
      range_select.replaceChildren(...data.ranges.filter((range) => find_cell(cell.operation, cell.module, range)).map((each) => option(each, each)));
      range_select.value = cell.range;
    };
    const metric_group = make("div", { class: "segments metrics", role: "group", "aria-label": "Error to draw" },
      Object.keys(METRICS).map((metric) => make("button", { type: "button", "data-metric": metric, onclick: () => { state.metric = metric; refresh(); } }, METRICS[metric].replace(" error", ""))));

    const runs_title = make("h3", { class: "subhead", id: "runs-title" });
    const runs_holder = make("div");
    const fill_runs = () => {
      const failed = state.chosen.seeds.filter((run) => !run.success);
      runs_title.textContent = `Failed runs of ${cell_name(state.chosen)}`;
      if (!failed.length) { runs_holder.replaceChildren(make("p", { class: "intro" }, "Every run of this cell was solved.")); return; }
      const head = ["Seed", "Reason", "Best iteration", "Validation error", "Test error", "Sparsity error"];
      runs_holder.replaceChildren(make("div", { class: "box short", role: "region", tabindex: "0", "aria-labelledby": "runs-title" },
        make("table", { class: "runs" },
          make("thead", null, make("tr", null, head.map((name, index) => make("th", { scope: "col", class: index === 1 ? null : "n" }, name)))),
          make("tbody", null, failed.map((run) => make("tr", { "data-seed": run.seed, onpointerenter: () => point_at(run.seed), onpointerleave: () => point_at(null) },
            make("th", { scope: "row", class: "n" }, run.seed), make("td", { class: "wrap" }, run.failure ?? "no reason recorded"),
            make("td", { class: "n" }, run.best_step === null || run.best_step === undefined ? none() : count(run.best_step)),
            ["validation", "test", "sparsity"].map((metric) => make("td", { class: "n" }, run[metric] === null || run[metric] === undefined ? none() : number(run[metric])))))))));
    };
    const refresh = () => {
      const cell = state.chosen;
      fill_selects();
      for (const button of metric_group.children) button.setAttribute("aria-pressed", String(button.dataset.metric === state.metric));
      figure.title = `Learning curves: ${cell_name(cell)}`;
      figure.heading.textContent = cell_name(cell);
      figure.lead_line.textContent = `${solved_text()}${cell.published?.success ? `; published: ${Math.round(cell.published.success[0] * cell.runs)} of ${cell.runs}` : ""}.${cell.threshold > 0 ? ` Test error must fall below ${number(cell.threshold)}.` : ""}`;
      fill_runs();
      figure.redraw();
    };
    const title = make("h2", { id: "curves-title", tabindex: "-1" }, "Learning curves");
    const element = make("section", { id: "curves", "aria-labelledby": "curves-title" },
      title,
      make("p", { class: "intro" }, "A line per seed, blue where the run was solved, orange and dashed where it was not. ",
        make("span", { class: "controls" }, "Point at a line for its values; a ring marks its best iteration, the one with the lowest validation error.")),
      make("div", { class: "fields controls" }, field("Operation", operation_select), field("Module", module_select), field("Range", range_select), metric_group),
      figure.element, runs_title, runs_holder);
    return { element, refresh, title };
  }

  // ---- kinds of failure ----------------------------------------------------------------------------------------
  function failure_section() {
    const totals = new Map();
    for (const cell of cells) for (const [kind, runs] of Object.entries(cell.failures ?? {})) totals.set(kind, (totals.get(kind) ?? 0) + runs);
    const kinds = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a));
    const kind_name = new Map(kinds.map((kind, index) => [kind, `k${index % 8}`]));
    const groups = operations.flatMap((operation) => modules_of(operation).map((module) => {
      const own = cells.filter((cell) => cell.operation === operation && cell.module === module);
      const runs = sum(own, (cell) => cell.runs);
      const solved = sum(own, (cell) => cell.successes);
      return { operation, module, runs, solved, counts: new Map(kinds.map((kind) => [kind, sum(own, (cell) => cell.failures?.[kind] ?? 0)])) };
    }));
    const build = (context) => {
      const { colour } = context;
      const columns = Math.min(operations.length, context.width >= 900 ? 4 : context.width >= 560 ? 2 : 1);
      const gap = 26;
      const label_room = 62;
      const width = Math.min(520, Math.floor((context.width - 8 - gap * (columns - 1)) / columns) - label_room - 12);
      const panels = operations.map((operation) => {
        const shown = groups.filter((group) => group.operation === operation && !state.hidden.has(group.module));
        const rows = shown.flatMap((group) => {
          let from = 0;
          const parts = [...kinds.map((kind) => [kind, group.counts.get(kind), kind_name.get(kind)]), ["solved", group.solved, "rest"]];
          const told = group.solved + [...group.counts.values()].reduce((a, b) => a + b, 0);
          if (told < group.runs) parts.splice(kinds.length, 0, ["not classified", group.runs - told, "soft"]);
          return parts.filter(([, runs]) => runs > 0).map(([kind, runs, name]) => {
            const start = from;
            from += (100 * runs) / group.runs;
            return { operation, module: group.module, kind, runs, of: group.runs, start, end: from, colour: colour(name) };
          });
        });
        return {
          title: { text: operation_name(operation) }, width, height: { step: 24 }, data: { values: rows }, name: `failures_${operations.indexOf(operation)}`,
          mark: { type: "bar", stroke: colour("paper"), strokeWidth: 1, tooltip: { content: "data" } },
          encoding: {
            y: { field: "module", type: "nominal", sort: data.modules, scale: { domain: shown.map((group) => group.module), paddingInner: 0.28 }, axis: { title: null, domain: false, ticks: false, labelColor: colour("ink"), labelFontSize: 11.5, minExtent: label_room, maxExtent: label_room } },
            x: { field: "start", type: "quantitative", scale: { domain: [0, 100], nice: false }, axis: { title: "% of runs", values: [0, 50, 100], grid: false, labelFlush: true, domain: false, ticks: false, titlePadding: 4 } },
            x2: { field: "end" }, fill: { field: "colour", type: "nominal", scale: null },
          },
        };
      });
      return { concat: panels, columns, spacing: gap, resolve: { scale: { x: "independent", y: "independent" } } };
    };
    const figure = new Figure({
      id: "failures", title: "Kinds of failure by module", level: 3, lead: "Share of the runs over all ranges.", build, reserve: 260,
      subtitle: () => [`Share of the runs of each module, over all ranges. ${data.title}.`, data.version],
      keys: (context) => [...kinds.map((kind) => ({ label: kind, shape: "square", colour: context.colour(kind_name.get(kind)) })), { label: "solved", shape: "square", colour: context.colour("rest") }],
      describe: () => `Share of runs by kind of failure, for each operation and module. In all: ${kinds.map((kind) => `${kind} ${count(totals.get(kind))}`).join(", ") || "no failures"}.`,
      tip: (row) => ({ title: `${row.module}, ${operation_name(row.operation).toLowerCase()}`, rows: [[row.kind, `${count(row.runs)} of ${plural(row.of, "run", "runs")} (${percent(row.runs / row.of)})`]] }),
    });
    figure.legend.append(...[...kinds.map((kind) => [kind, kind_name.get(kind), count(totals.get(kind))]), ["solved", "rest", count(sum(cells, (cell) => cell.successes))]]
      .map(([kind, name, runs]) => make("span", { class: "note-key" }, make("i", { class: "swatch", style: `background: var(--${name})` }), `${kind} (${runs})`)));
    const failed = sum(cells, (cell) => cell.runs - cell.successes);
    const element = make("section", { id: "failures", "aria-labelledby": "failures-title" },
      make("h2", { id: "failures-title" }, "Why runs fail"),
      make("p", { class: "intro" }, failed
        ? `${plural(failed, "run was", "runs were")} not solved${kinds.length ? `; the most frequent kind is \u201c${kinds[0]}\u201d (${count(totals.get(kinds[0]))})` : ""}.`
        : "Every run was solved."),
      figure.element,
      make("details", { class: "only-screen" }, make("summary", null, "The numbers as a table"),
        make("div", { class: "box short", role: "region", tabindex: "0", "aria-label": "Kinds of failure" },
          make("table", null,
            make("thead", null, make("tr", null, ["Operation", "Module"].map((name) => make("th", { scope: "col" }, name)), [...kinds, "solved", "runs"].map((name) => make("th", { scope: "col", class: "n" }, name)))),
            make("tbody", null, groups.map((group) => make("tr", null, make("td", null, operation_name(group.operation)), make("th", { scope: "row" }, group.module),
              kinds.map((kind) => make("td", { class: "n" }, count(group.counts.get(kind)))), make("td", { class: "n" }, count(group.solved)), make("td", { class: "n" }, count(group.runs)))))))));
    return { element };
  }

  // ---- the page ------------------------------------------------------------------------------------------------
  const when = new Date(data.created);
  const day = Number.isNaN(when.getTime()) ? data.created
    : new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }).format(when);
  const total_runs = sum(cells, (cell) => cell.runs);
  const total_solved = sum(cells, (cell) => cell.successes);
  const compared = cells.filter((cell) => cell.published?.success);
  const agreeing = compared.filter((cell) => !disagrees(cell)).length;
  const summary = `${plural(total_runs, "run", "runs")} of ${plural(cells.length, "cell", "cells")}; ${count(total_solved)} solved${total_runs ? ` (${percent(total_solved / total_runs)})` : ""}${compared.length ? `; the success rate agrees with the published one, within 95\u202f% intervals, in ${agreeing === compared.length ? (compared.length === 1 ? "that cell" : `all ${count(compared.length)}`) : `${count(agreeing)} of ${count(compared.length)}`}${agreeing === compared.length && compared.length === 1 ? "" : " cells"}` : ""}.`;
  const interval_note = data.intervals === "paper"
    ? "Intervals are computed as the paper computes them."
    : "Intervals cover 95\u202f%: Wilson\u2019s for the success rate, a gamma distribution\u2019s for the iteration solved at, a beta distribution\u2019s for the sparsity error.";

  // Settings are texts, or objects of texts, which are told in one line.
  const settings = Object.entries(data.settings ?? {});
  const composed = (value) => typeof value === "object" && value !== null;
  const tell_setting = (value) => (!composed(value) ? String(value)
    : Array.isArray(value) ? value.map(tell_setting).join(", ") : Object.entries(value).map(([name, each]) => `${name.replaceAll("_", " ")}: ${tell_setting(each)}`).join("; "));
  const fact = ([name, value]) => [make("dt", null, name), make("dd", null, tell_setting(value))];

  const figures = operations.map(operation_figure);
  const table = cell_table();
  const curves = curve_section();
  const failures = failure_section();

  const apply = () => {
    for (const figure of figures) figure.fill_legend();
    nalm.redraw_all();
  };
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  function choose(cell, go) {
    state.chosen = cell;
    hide_tip();
    table.mark_chosen();
    curves.refresh();
    if (go) {
      curves.title.focus({ preventScroll: true });
      document.getElementById("curves").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
    }
  }

  const published_toggle = make("label", { class: "toggle" },
    make("input", { type: "checkbox", id: "toggle-published", checked: state.published, onchange: (event) => { state.published = event.target.checked; apply(); } }), "Published values");
  const links = [...operations.map((operation) => [`figure-${operation}`, operation_name(operation)]), ["table", "Table"], ["curves", "Curves"], ["failures", "Failures"], ["settings", "Settings"]];
  document.getElementById("page").append(
    make("header", { class: "masthead" },
      make("p", { class: "kicker" }, `${data.command} \u00b7 ${day}`),
      make("h1", null, data.title),
      make("p", { class: "summary", id: "summary" }, summary),
      make("p", { class: "standfirst" }, `What counts as solved: ${data.criterion}. ${interval_note}`)),
    make("div", { class: "bar" },
      make("nav", { "aria-label": "Parts of the report" }, make("ul", null, links.map(([id, name]) => make("li", null, make("a", { href: `#${id}` }, name))))),
      make("div", { class: "options" }, any_published ? published_toggle : null, nalm.theme_switch())),
    make("main", { id: "content" },
      make("section", { id: "operations", "aria-labelledby": "operations-title" },
        make("h2", { id: "operations-title" }, operations.length === 1 ? "How often, how fast, how exactly" : "How often, how fast, how exactly, by operation"),
        make("p", { class: "intro" }, "Marks stand over the range the inputs are drawn from; lines are 95\u202f% intervals. ",
          make("span", { class: "controls" }, "Click a module to hide or show it, a mark to see its learning curves.")),
        figures.map((figure) => figure.element)),
      table.element, curves.element, failures.element,
      make("section", { id: "settings", "aria-labelledby": "settings-title" },
        make("h2", { id: "settings-title" }, "Settings and how to reproduce"),
        make("dl", { class: "facts" },
          [["Version", data.version], ["Made", Number.isNaN(when.getTime()) ? data.created : `${day}, ${when.toISOString().slice(11, 16)} UTC`], ["Command", data.command],
            ["Solved means", data.criterion], ["Intervals", data.intervals], ...settings.filter(([, value]) => !composed(value))].map(fact)),
        settings.some(([, value]) => composed(value))
          ? make("details", null, make("summary", null, "All settings"), make("dl", { class: "facts" }, settings.filter(([, value]) => composed(value)).map(fact))) : null,
        (data.reproduce ?? []).length ? [make("h3", { class: "subhead" }, "Reproduce this report"), make("pre", { tabindex: "0" }, make("code", null, data.reproduce.join("\n")))] : null)),
    nalm.footer(`${data.version}. Made with ${data.command}, ${day}.`));

  // Begin with a cell that shows both outcomes, if there is one.
  const telling = [...cells].sort((a, b) => Math.abs(a.successes / a.runs - 0.5) - Math.abs(b.successes / b.runs - 0.5))[0];
  if (telling) choose(telling, false);
  nalm.start();
})();
