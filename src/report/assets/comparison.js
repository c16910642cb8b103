// Results side by side: of every cell that two benchmarks share, the difference of the success rates with its interval, as
// a figure and as a table. The shell provides `nalm`; report.cpp writes the data.
"use strict";
(() => {
  const { data, make, section, intro, listed, option, field, note_key, table_box, text_box, plain, quantity, number, percent, plural, capital, smallest, largest, SHAPES, key_symbol, Figure } = nalm;

  const cell_name = (cell) => [cell.model, cell.operation, cell.setting].filter(Boolean).join(", ");
  const points = (share) => `${share > 0 ? "+" : ""}${number(Math.round(share * 1000) / 10)}`;
  const differing = (cell) => cell.differs;
  const unequal = (cell) => cell.differs || cell.difference[0] !== 0;
  const SHOWN = { all: ["All cells", () => true], unequal: ["Those that are not equal", unequal], differing: ["Those that differ", differing] };
  const MANY = 40;

  const state = { other: 0, operation: "", shown: "all" };
  const other = () => data.others[state.other];
  const operations = [...new Set(data.others.flatMap(({ cells }) => cells.map((cell) => cell.operation)))];
  if (other().cells.length > MANY && other().cells.some(unequal)) state.shown = "unequal";
  // From the largest loss to the largest gain.
  const wanted = () => other().cells.filter((cell) => cell.difference[0] !== null && (!state.operation || cell.operation === state.operation) && SHOWN[state.shown][1](cell))
    .sort((a, b) => a.difference[0] - b.difference[0]);
  const title = () => `${other().name} against ${data.names[0]}`;
  const tally_text = () => `${plural(wanted().length, "cell", "cells")} of ${other().cells.length}; ${wanted().filter(differing).length} of them differ`;

  // ---- figure ----------------------------------------------------------------------------------------------------
  const build = (context) => {
    const { colour } = context;
    const rows = wanted().map((cell, index) => {
      const [value, low, high] = cell.difference.map((share) => (share === null ? null : 100 * share));
      return { index, label: cell_name(cell), value, low: low ?? value, high: high ?? value, differs: cell.differs };
    });
    if (!rows.length) return { data: { values: [{}] }, mark: { type: "text", color: colour("soft") }, encoding: { text: { value: "no such cell" } }, width: 200, height: 40 };
    const labels = rows.map((row) => row.label);
    const room = Math.min(context.width * 0.42, 14 + 6.6 * largest(labels.map((label) => label.length)));
    const reach = Math.min(100, Math.max(10, Math.ceil(largest(rows.flatMap((row) => [-row.low, row.high])) / 10) * 10));
    const domain = [Math.max(-100, smallest([...rows.map((row) => row.low), -reach])), reach];
    const y = { field: "label", type: "nominal", scale: { domain: labels }, axis: { title: null, domain: false, ticks: false, grid: true, tickBand: "extent", labelColor: colour("ink"), labelFontSize: 11, labelLimit: room - 10, minExtent: room, maxExtent: room, labelPadding: 8 } };
    const x = (name) => quantity(name, domain, { title: `points of success rate, ${other().name} less ${data.names[0]}`, orient: "top", grid: true, domain: false, ticks: false, labelFlush: true, labelExpr: "nalmNumber(datum.value)", tickCount: context.narrow ? 3 : 9 });
    const outcome = { condition: { test: "datum.differs", value: colour("failed") }, value: colour("solved") };
    const tooltip = { content: "data" };
    return {
      width: context.width - room - 16, height: { step: 18 },
      layer: [
        { data: { values: [{}] }, mark: { type: "rule", color: colour("ink"), strokeWidth: 1 }, encoding: { x: { datum: 0, type: "quantitative" } } },
        { name: "bars", data: { values: rows }, mark: { type: "rule", strokeWidth: 2, opacity: 0.75, strokeCap: "round", tooltip }, encoding: { y, x: x("low"), x2: { field: "high" }, stroke: outcome } },
        { name: "differences", data: { values: rows.map((row) => ({ ...row, path: SHAPES[row.differs ? "diamond" : "circle"] })) }, mark: { type: "point", size: 64, opacity: 1, strokeWidth: 0.7, tooltip },
          encoding: { y, x: x("value"), shape: plain("path"), fill: outcome, stroke: { value: colour("paper") } } },
      ],
    };
  };
  const rate = (triple, runs) => (triple[0] === null ? "no runs" : `${percent(triple[0])} of ${plural(runs, "run", "runs")}`);
  const between = ([, low, high], tell) => (low === null || high === null ? "" : `${tell(low)} to ${tell(high)}`);
  const figure = new Figure({
    id: "differences", title: "Difference of the success rates", level: 3, build, reserve: 400,
    subtitle: () => [`${title()}; lines are 95 % intervals.`],
    keys: (context) => [{ label: "differs by more than chance among so many cells", shape: "diamond", colour: context.colour("failed") }, { label: "does not", shape: "circle", colour: context.colour("solved") }],
    describe: () => `Differences of the success rates of ${plural(wanted().length, "cell", "cells")}, ${title()}, sorted, with 95 % intervals. The table holds the numbers.`,
    tip: (row) => {
      const cell = wanted()[row.index];
      return {
        title: cell_name(cell),
        rows: [[data.names[0], rate(cell.first, cell.runs[0])], [other().name, rate(cell.other, cell.runs[1])], ["Difference", `${points(cell.difference[0])} points`], ["95 % interval", between(cell.difference, points)]],
        note: `${cell.paired ? "Paired by seed" : "Of two rates"}${cell.differs ? "; differs by more than chance" : ""}`,
      };
    },
  });
  figure.legend.append(note_key(key_symbol("diamond", "fill: var(--failed)"), "differs by more than chance among so many cells"), note_key(key_symbol("circle", "fill: var(--solved)"), "does not"), note_key("lines: 95\u202f% intervals"));

  // ---- table -----------------------------------------------------------------------------------------------------
  const holder = make("div");
  const fill_table = () => {
    const head = (name, numeric) => make("th", { scope: "col", class: numeric ? "n" : null }, name);
    const numeric = (...content) => make("td", { class: "n" }, ...content);
    const parts = ["operation", "setting"].filter((part) => other().cells.some((cell) => cell[part]));
    const interval = (triple, tell) => make("span", { class: "interval" }, ` ${between(triple, tell)}`);
    holder.replaceChildren(...table_box("All shared cells", make("table", { class: "cells" },
      make("thead", null, make("tr", null, head("Model"), parts.map((part) => head(capital(part))), head(data.names[0], true), head(other().name, true), head("Difference, points", true), head("Paired"), head("Verdict"))),
      make("tbody", null, wanted().map((cell) => make("tr", { "data-differs": cell.differs }, make("th", { scope: "row" }, cell.model), parts.map((part) => make("td", null, cell[part])),
        numeric(rate(cell.first, cell.runs[0])), numeric(rate(cell.other, cell.runs[1])), numeric(points(cell.difference[0]), interval(cell.difference, points)),
        make("td", null, cell.paired ? "by seed" : "no"), make("td", null, cell.differs ? make("strong", { class: "differs" }, "DIFFERS") : "")))))));
  };

  // ---- the page --------------------------------------------------------------------------------------------------
  const tally = make("p", { class: "tally", role: "status" });
  const refresh = () => {
    figure.heading.textContent = title();
    figure.lead_line.textContent = `All shared runs together: ${points(other().difference[0])} points${between(other().difference, points) ? ` (${between(other().difference, points)})` : ""}. ${other().differing ? `${plural(other().differing, "cell differs", "cells differ")} by more than chance allows among so many.` : "No cell differs by more than chance allows among so many."}`;
    tally.textContent = tally_text();
    fill_table();
    figure.redraw();
  };
  const select = (id, name, pairs) => {
    const element = make("select", { id: `choose-${id}`, onchange: () => { state[id] = id === "other" ? Number(element.value) : element.value; refresh(); } }, pairs.map(([value, text]) => option(value, text)));
    element.value = String(state[id]);
    return pairs.length > 1 ? field(name, element) : null;
  };
  const lines = data.words.trimEnd().split("\n");
  const sentences = lines.filter((line) => line && !line.includes("  "));
  const page = document.getElementById("page");
  page.classList.add("report");
  page.append(
    make("header", { class: "masthead" }, make("h1", null, data.title), make("p", { class: "summary", id: "summary" }, data.others.map((each) => `${each.name} against ${data.names[0]}: ${plural(each.cells.length, "shared cell", "shared cells")}, ${each.differing} of them ${each.differing === 1 ? "differs" : "differ"}`).join("; "), ".")),
    make("div", { class: "bar" }, nalm.navigation([["differences", "Differences"], ["table", "Table"], ["words", "In words"]]), make("div", { class: "options" }, nalm.theme_switch())),
    make("main", { id: "content" },
      section("differences", "Differences", intro("A line per cell, from the largest loss to the largest gain."),
        make("div", { class: "fields controls" },
          select("other", "Compared", data.others.map(({ name }, at) => [at, name])),
          select("operation", "Operation", [["", "All operations"], ...operations.map((name) => [name, name])]),
          select("shown", "Show", Object.entries(SHOWN).map(([name, [text]]) => [name, text])), tally),
        figure.element),
      section("table", "As a table", holder),
      section("words", "In words", sentences.map((sentence) => intro(sentence)),
        lines.length > sentences.length ? text_box("The comparison as the terminal shows it", lines.filter((line) => line.includes("  ")).join("\n")) : null,
        listed(data.names.map((name, at) => `${name}: ${data.commands[at] ?? ""}`)))),
    nalm.footer("Made with nalm compare."));
  refresh();
  nalm.start();
})();
