// The results of a task: its table with the published figures, and how they were made. The shell provides `nalm`.
"use strict";
(() => {
  const { data, make } = nalm;
  const section = (id, title, ...content) => make("section", { id, "aria-labelledby": `${id}-title` }, make("h2", { id: `${id}-title` }, title), ...content);
  const paragraph = (text) => make("p", { class: "intro" }, text);
  const listed = (items) => make("ul", { class: "notes" }, items.map((item) => make("li", null, item)));

  const { headings, rows, left, notes } = data.table;
  const cell = (tag, text, at, more) => make(tag, { ...more, class: at >= left ? "n" : null }, text.replace("+-", "\u00b1"));
  const table = make("table", null,
    make("thead", null, make("tr", null, headings.map((text, at) => cell("th", text, at, { scope: "col" })))),
    make("tbody", null, rows.map((row) => make("tr", null, row.map((text, at) => (at === 0 ? cell("th", text, at, { scope: "row" }) : cell("td", text, at)))))));
  document.getElementById("page").append(
    make("header", { class: "masthead" },
      make("p", { class: "kicker" }, `nalm bench --task ${data.task} \u00b7 preset ${data.preset}`),
      make("h1", null, data.title),
      make("p", { class: "standfirst" }, data.source)),
    make("div", { class: "bar" },
      make("nav", { "aria-label": "Parts of the page" }, make("ul", null,
        [["results", "Results"], ["settings", "Settings"], ["made", "How it was made"]].map(([id, name]) => make("li", null, make("a", { href: `#${id}` }, name))))),
      make("div", { class: "options" }, nalm.theme_switch())),
    make("main", { id: "content" },
      section("results", "Results", make("div", { class: "box", role: "region", tabindex: "0", "aria-label": "Results" }, table), notes.map(paragraph)),
      section("settings", "Settings", paragraph(data.settings),
        data.differences.length ? [make("h3", { class: "subhead" }, "Differences from the papers"), listed(data.differences)] : null),
      section("made", "How it was made", listed(data.made))),
    nalm.footer(`Made with nalm ${data.version}.`));
  nalm.start();
})();
