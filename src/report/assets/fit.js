// The page of a fitted formula: the formula, its errors and constants, every row, the other candidates, the weights and
// what happens outside of the data. The shell provides `nalm`; fit_report.cpp writes the data and has seen to their types:
// texts are texts, numbers are finite or null. All of them come from a file that anybody may have written, so they only
// ever become text: of elements, of drawings, or of formulas that are rebuilt from a list of known elements.
"use strict";
(() => {
  const {
    data, make, none, section, subhead, intro, listed, note_key, line_key, table_box, count, number, plural, smallest, largest, superscript, decades, log_ticks, plain, quantity,
    SHAPES, key_symbol, show_tip, hide_tip, Figure, MINUS,
  } = nalm;

  // ---- words and numbers -----------------------------------------------------------------------------------------
  const short = (text, length = 36) => ([...text].length > length ? `${[...text].slice(0, length - 1).join("")}\u2026` : text);
  const target = data.target || "target";
  // With so many significant digits.
  const in_digits = (value, digits) => {
    if (value === null || value === undefined) return "not finite";
    if (value === 0) return "0";
    const size = Math.abs(value);
    const places = Math.max(1, Math.min(17, digits));
    if (size >= 1e-3 && size < 1e6) return String(Number(value.toPrecision(places))).replace("-", MINUS);
    const [mantissa, exponent] = value.toExponential(places - 1).split("e");
    const factor = String(Number(mantissa)).replace("-", MINUS);
    return `${factor === "1" ? "" : factor === `${MINUS}1` ? MINUS : `${factor}\u00d7`}10${superscript(Number(exponent))}`;
  };
  // As many digits as tell two numbers apart that differ by a hundredth of `span`.
  const digits_for = (size, span) => (size > 0 && span > 0 ? Math.max(3, Math.min(17, Math.ceil(Math.log10(size / span)) + 3)) : 3);
  const finite = (value) => (value === null ? "not finite" : number(value));
  const full = (value) => in_digits(value, 17);
  vega.expressionFunction("nalmDigits", in_digits);

  const head = (...names) => make("thead", null, make("tr", null, names.map(([name, numeric]) => make("th", { scope: "col", class: numeric ? "n" : null }, name))));

  // ---- formulas --------------------------------------------------------------------------------------------------
  const MATH = "http://www.w3.org/1998/Math/MathML";
  const MATH_ELEMENTS = new Set(["math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder", "munderover", "mpadded", "mphantom", "mstyle", "mtable", "mtr", "mtd"]);
  const math_element = (name, ...children) => {
    const element = document.createElementNS(MATH, name);
    element.append(...children);
    return element;
  };
  // A formula of the file, built anew from known elements without their attributes; null if there is anything else.
  const typeset = (text, block) => {
    if (!text || text.length > 200000 || /<[!?]/.test(text)) return null;
    const parsed = new DOMParser().parseFromString(text, "application/xml");
    if (parsed.documentElement.localName !== "math") return null;
    const rebuild = (node, depth) => {
      if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
      if (node.nodeType !== Node.ELEMENT_NODE || !MATH_ELEMENTS.has(node.localName) || depth > 200) return null;
      const element = math_element(node.localName);
      if (node.localName === "mi" && node.getAttribute("mathvariant") === "normal") element.setAttribute("mathvariant", "normal");
      for (const child of node.childNodes) {
        const copy = rebuild(child, depth + 1);
        if (copy === null) return null;
        element.append(copy);
      }
      return element;
    };
    const math = rebuild(parsed.documentElement, 0);
    if (math === null || !math.textContent.trim()) return null;
    if (block) math.setAttribute("display", "block");
    // Names of several letters would run together.
    if ([...math.querySelectorAll("mi")].some((name) => [...name.textContent.trim()].length > 1)) {
      for (const sign of math.querySelectorAll("mo")) if (sign.textContent === "\u2062") sign.textContent = "\u22c5";
    }
    return math;
  };
  // Some formulas come with "y =" in front, some without.
  const with_target = (math) => {
    const row = math.children.length === 1 && math.firstElementChild.localName === "mrow" ? math.firstElementChild : math;
    if ([...row.children].some((child) => child.localName === "mo" && child.textContent.trim() === "=")) return math;
    math.replaceChildren(math_element("mrow", math_element("mi", target), math_element("mo", "="), ...math.childNodes));
    return math;
  };
  const plain_formula = data.formula.startsWith(`${target} = `) || !data.formula ? data.formula : `${target} = ${data.formula}`;

  const copied = make("span", { class: "unseen", role: "status" });
  const to_clipboard = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* not allowed here: the old way */ }
    const field = make("textarea", { class: "unseen", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  };
  const copy_button = (what, name, text) => {
    const button = make("button", { type: "button", class: "quiet controls", "data-copy": what, onclick: async () => {
      const done = await to_clipboard(text);
      button.textContent = done ? "Copied" : "Not allowed here";
      copied.textContent = done ? `${name} copied` : "Copying is not allowed here";
      button.focus();
      clearTimeout(button.timer);
      button.timer = setTimeout(() => { button.textContent = `Copy ${name}`; copied.textContent = ""; }, 1800);
    } }, `Copy ${name}`);
    return button;
  };

  // ---- the head --------------------------------------------------------------------------------------------------
  const { agreement } = data;
  const reservations = [
    data.verified === false ? "the printed formula does not give what the layers give" : null,
    data.cut ? "the search was cut short" : null,
  ].filter(Boolean);
  const VERDICTS = { law: ["good", "Law"], approximation: ["doubt", "Approximation, for the inside of the data only"], none: ["bad", "No formula to rely on"] };
  const state = VERDICTS[data.judgement?.verdict] ?? (data.found === null ? ["doubt", "Not judged"] : data.found ? VERDICTS.law : VERDICTS.none);
  const is_law = state === VERDICTS.law;
  const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "");
  const agreement_sentence = () => {
    const { agreeing, converged, restarts } = agreement;
    if (agreeing === null) return "";
    const started = restarts === null ? "" : converged === null ? ` (of ${plural(restarts, "restart", "restarts")})` : `; ${plural(restarts, "was started", "were started")}`;
    if (converged === null) return `${plural(agreeing, "training spells", "trainings spell")} this formula${started}.`;
    if (agreeing === 1 && converged === 1) return `The only training that converged spells this formula${started}.`;
    return `${count(agreeing)} of the ${plural(converged, "training", "trainings")} that converged ${agreeing === 1 ? "spells" : "spell"} this formula${started}.`;
  };
  const verified_sentence = () => {
    const difference = data.verification_error === null ? "" : `, to ${number(data.verification_error)} of the size of its terms`;
    if (data.verified === null) return "";
    if (data.verified) return data.verification_error === 0 ? "Verified: the printed formula, read back, gives exactly what the layers give." : `Verified: the printed formula, read back, gives what the layers give${difference}.`;
    return `Not verified: the printed formula, read back, does not give what the layers give${data.verification_error === null ? "" : `; they differ by up to ${number(data.verification_error)} of the size of its terms`}.`;
  };
  const cut_sentence = data.cut ? "The search was cut short: a longer one may find more, and this one cannot be repeated to the bit." : "";
  const named = data.named_constants.filter(({ value }) => value !== null);
  const duration = data.seconds === null ? "" : data.seconds < 120 ? `${number(data.seconds)} s` : `${number(data.seconds / 60)} min`;
  const repeat = [
    ["Command", data.command ? [make("code", null, data.command)] : ""], ["Data", [data.data, data.rows === null ? "" : plural(data.rows, "row", "rows")].filter(Boolean).join(", ")],
    ["Seed", data.seed], ["Version", data.version], ["Time", duration],
  ].filter(([, value]) => value.length);

  const headline = () => {
    // A browser does not break a typeset formula into lines.
    const math = plain_formula.length > 120 ? null : typeset(data.mathml, true);
    const shown = math ? with_target(math) : make("code", { class: "plain" }, plain_formula || "no formula");
    return make("header", { class: "masthead fit" },
      make("p", { class: "kicker" }, ["nalm fit", data.data].filter(Boolean).join(" \u00b7 ")),
      make("h1", null, state === VERDICTS.none ? `No formula for ${target} to rely on` : is_law ? `A formula for ${target}` : `An approximation for ${target}`),
      make("div", { class: "formula", role: "region", tabindex: "0", "aria-label": "The formula, scrolls sideways" }, shown),
      data.formula ? make("div", { class: "formula-text" }, make("code", { id: "formula-text" }, plain_formula),
        make("span", { class: "copies" }, copy_button("text", "formula", plain_formula), data.latex ? copy_button("latex", "LaTeX", data.latex) : null)) : null,
      copied,
      named.length ? make("p", { class: "standfirst" }, `with ${named.map(({ name, value }) => `${name} = ${full(value)}`).join(", ")}`) : null,
      make("p", { class: "summary verdict", id: "verdict", "data-state": state[0] }, make("i", { class: "dot", "aria-hidden": "true" }), make("strong", null, `${state[1]}.`), ` ${sentence(data.verdict)}`),
      reservations.length ? make("p", { class: "standfirst", id: "reservations" }, `But ${reservations.join(", and ")}.`) : null,
      make("p", { class: "standfirst", id: "agreement" }, [agreement_sentence(), verified_sentence(), cut_sentence].filter(Boolean).join(" ")),
      data.notes.length ? listed(data.notes) : null,
      repeat.length ? make("dl", { class: "facts", id: "repeat" }, repeat.map(([name, value]) => [make("dt", null, name), make("dd", null, value)])) : null);
  };

  // ---- errors and constants --------------------------------------------------------------------------------------
  const SETS = {
    train: { name: "Training rows", small: "training rows", note: "the formula was fitted to them", colour: "m2", shape: "circle" },
    held_out: { name: "Held-out rows", small: "held-out rows", note: "the fit never saw them", colour: "m4", shape: "square" },
    outside: { name: "Outside rows", small: "outside rows", note: "at the edge of the data, outside of what the fit saw", colour: "m5", shape: "up" },
  };
  const set_symbol = (set) => key_symbol(SETS[set].shape, `fill: var(--${SETS[set].colour})`);

  // 1 is for what is left by rounding alone.
  const r_squared = (relative) => {
    if (relative === null) return "not finite";
    const value = 1 - relative * relative;
    return relative > 1e-7 && value > 0.99995 ? ">0.9999" : value.toFixed(4).replace("-", MINUS);
  };
  function error_table() {
    const cell = (value) => make("td", { class: "n" }, finite(value));
    const rows = Object.entries(data.errors).map(([set, error]) => {
      const label = make("th", { scope: "row" }, make("span", { class: "module" }, set_symbol(set), make("span", null, SETS[set].name, make("span", { class: "interval" }, `, ${SETS[set].note}`))));
      if (error === null || error.rows === 0) return make("tr", { "data-set": set }, label, make("td", { class: "n" }, error ? "0" : none()), [0, 1, 2, 3].map(() => make("td", { class: "n" }, none())));
      return make("tr", { "data-set": set }, label, make("td", { class: "n" }, error.rows === null ? none() : count(error.rows)), cell(error.rmse), make("td", { class: "n" }, r_squared(error.relative)), cell(error.relative), cell(error.largest));
    });
    return table_box("Errors of the formula", make("table", { class: "errors" },
      head(["Rows"], ["Number", true], ["Root mean squared error", true], ["R\u00b2", true], ["Relative error", true], ["Largest error", true]), make("tbody", null, rows)));
  }

  // The interval as a bar, the estimate as a dot, the number in the formula as a tick.
  function error_bar({ value, estimate, low, high }) {
    const known = [value, estimate, low, high].filter((each) => each !== null);
    if (!known.length) return null;
    const [from, to] = [smallest(known), largest(known)];
    const place = (at) => `${(to > from ? 8 + (84 * (at - from)) / (to - from) : 50).toFixed(1)}%`;
    return make("span", { class: "gauge wide", "aria-hidden": "true", style: "--gauge: var(--m2)" },
      low !== null && high !== null ? make("i", { style: `left:${place(low)};right:calc(100% - ${place(high)})` }) : null,
      value !== null ? make("u", { style: `left:${place(value)}` }) : null,
      estimate !== null ? make("b", { style: `left:${place(estimate)}` }) : null);
  }
  function constant_table() {
    const rows = data.constants.map((constant) => {
      const { value, estimate, low, high, snapped } = constant;
      const width = low !== null && high !== null ? (high - low) / 2 : 0;
      const tell = (each) => in_digits(each, digits_for(Math.abs(each ?? 0), width));
      return make("tr", null, make("th", { scope: "row", class: "n" }, constant.name ? `${constant.name} = ` : "", value === null ? "not finite" : full(value), constant.unit ? ` ${constant.unit}` : ""), make("td", { class: "n" }, width > 0 ? tell(estimate) : full(estimate)),
        make("td", null, error_bar(constant), low === null || high === null ? none() : `${tell(low)} to ${tell(high)}`),
        make("td", null, snapped ? "rounded to a simple number" : "as estimated"));
    });
    return table_box("Constants of the formula", make("table", { class: "constants" }, head(["In the formula", true], ["Estimate", true], ["99\u202f% interval"], ["Where it is from"]), make("tbody", null, rows)));
  }
  // One constant per group of rows.
  function group_table() {
    const groups = data.groups?.groups ?? [];
    if (!groups.length) return null;
    const rows_of = groups.map(({ name, rows: size, value, low, high }, at) => make("tr", null, make("th", { scope: "row" }, name), make("td", { class: "n" }, finite(value)),
      make("td", null, at === 0 || low === null || high === null ? none() : `${number(low)} to ${number(high)}`), make("td", { class: "n" }, size === null ? none() : count(size))));
    return [subhead(`Groups of ${data.groups.column}`), intro(`The formula is that of ${groups[0].name}; ${data.groups.added ? "to it the constant of the group is added" : "it is multiplied with the constant of the group"}.`),
      table_box("Constants of the groups", make("table", { class: "groups" }, head(["Group"], ["Constant", true], ["99\u202f% interval"], ["Rows", true]), make("tbody", null, rows_of)))];
  }
  const errors_section = () => section("errors", "How far off it is",
    intro("The relative error is the root mean squared error, divided by the standard deviation of ", make("code", null, target), " on all rows."), error_table(),
    subhead("Constants"),
    data.constants.length ? [intro("Least squares estimates each constant; one whose interval holds a simple number becomes that number. Bar: interval, dot: estimate, tick: number in the formula. Each bar has its own scale."), constant_table()]
      : intro("The formula has no constants that were estimated."), group_table());

  // ---- rows ------------------------------------------------------------------------------------------------------
  const hidden = new Set();
  const points = data.points;
  const total = points?.set.length ?? 0;
  const inputs = points?.inputs ?? [];
  const rows = [];
  for (let at = 0; at < total; ++at) {
    const [truth, predicted] = [points.target[at], points.predicted[at]];
    if (truth !== null && predicted !== null && Number.isFinite(truth - predicted)) rows.push({ at, set: points.set[at], truth, predicted, residual: truth - predicted });
  }
  const lost = total - rows.length;
  const shown = () => rows.filter((row) => !hidden.has(row.set));
  const sets_there = Object.keys(SETS).filter((set) => rows.some((row) => row.set === set));
  const widest = (list) => largest(list.map((row) => Math.abs(row.residual)));
  const residual_words = () => sets_there.filter((set) => !hidden.has(set)).map((set) => `${SETS[set].small} up to ${number(widest(rows.filter((row) => row.set === set)))}`).join(", ");
  const point_tip = (datum) => {
    if (datum.at === undefined) return null;
    const row = rows.find((each) => each.at === datum.at);
    return {
      title: SETS[row.set].name.replace("rows", "row"),
      rows: [[`true ${short(target, 24)}`, in_digits(row.truth, 6)], [`predicted ${short(target, 24)}`, in_digits(row.predicted, 6)], ["residual", number(row.residual)],
        ...inputs.slice(0, 12).map(({ name, values }) => [short(name, 24), in_digits(values[row.at], 6)])],
    };
  };

  // A domain with a little room on both sides, never empty.
  const roomy = (values, share = 0.04) => {
    let [low, high] = [smallest(values), largest(values)];
    if (!(low <= high)) return [-1, 1];
    if (high - low <= Math.max(Math.abs(low), Math.abs(high)) * 1e-14) { const half = Math.abs(low) * 0.1 || 1; low -= half; high += half; }
    const room = (high - low) * share;
    return [low - room, high + room].map((end) => Math.max(-Number.MAX_VALUE / 4, Math.min(Number.MAX_VALUE / 4, end)));
  };
  const axis_of = (domain, settings) => {
    const digits = digits_for(largest(domain.map(Math.abs)), domain[1] - domain[0]);
    return { title: null, tickCount: 5, labelExpr: `nalmDigits(datum.value, ${digits})`, domain: false, ticks: false, labelOverlap: true, ...settings };
  };
  // Sets that are fewer lie above those that are more.
  const ORDER = Object.keys(SETS);
  const marks = (name, values, x, y, context, size = 44) => ({
    name, data: { values: values.toSorted((a, b) => ORDER.indexOf(a.set) - ORDER.indexOf(b.set)).map((value) => ({ ...value, colour: context.colour(SETS[value.set].colour), path: SHAPES[SETS[value.set].shape] })) },
    mark: { type: "point", size, opacity: 0.8, strokeWidth: 0.6, tooltip: { content: "data" } },
    encoding: { x, y, shape: plain("path"), fill: plain("colour"), stroke: { value: context.colour("paper") } },
  });
  // A line across the drawing at a value of one of its axes.
  const rule = (name, channel, at, encoding, context, dash, colour = "soft") => ({
    name, data: { values: [{ at }] }, mark: { type: "rule", strokeWidth: 1.2, strokeDash: dash, color: context.colour(colour) }, encoding: { [channel]: { ...encoding, field: "at" } },
  });
  const row_figures = [];
  const row_figure = (options) => {
    const figure = new Figure({
      level: 3, tip: point_tip, file_width: 760, subtitle: () => [`${plain_formula ? short(plain_formula, 90) : target}`, data.version],
      ...options,
      keys: (context) => [...sets_there.filter((set) => !hidden.has(set)).map((set) => ({ label: SETS[set].small, shape: SETS[set].shape, colour: context.colour(SETS[set].colour) })), ...(options.lines ?? []).map(([label, dash, colour]) => ({ label, dash, colour: context.colour(colour) }))],
    });
    figure.fill_legend = () => figure.legend.replaceChildren(
      ...sets_there.map((set) => make("button", { type: "button", class: "key", "data-set": set, "aria-pressed": String(!hidden.has(set)), title: "Show or hide in all figures of rows", onclick: () => {
        if (!hidden.delete(set)) hidden.add(set);
        for (const each of row_figures) { each.fill_legend(); each.redraw(); }
        figure.legend.querySelector(`[data-set="${set}"]`).focus();
      } }, set_symbol(set), SETS[set].small)),
      ...(options.lines ?? []).map(([label, dash, colour]) => note_key(line_key({ dash, colour }), label)),
      ...(options.controls?.() ?? []));
    row_figures.push(figure);
    figure.fill_legend();
    return figure;
  };

  // Logarithms where the true values have one sign and differ more than a hundredfold.
  const truths = rows.map((row) => row.truth);
  const sign = truths.every((value) => value > 0) ? 1 : truths.every((value) => value < 0) ? -1 : 0;
  const sizes = truths.map(Math.abs);
  const may_log = rows.length > 1 && sign !== 0 && Math.log10(largest(sizes)) - Math.log10(smallest(sizes)) > 2;
  let logarithmic = may_log;

  function predicted_figure() {
    const DIAGONAL = ["predicted = true", [5, 4], "soft"];
    const drawable = () => shown().filter((row) => !logarithmic || row.predicted * sign > 0);
    const level = (value) => (logarithmic ? sign * Math.log10(Math.abs(value)) : value);
    const build = (context) => {
      const values = drawable().map((row) => ({ at: row.at, set: row.set, x: level(row.truth), y: level(row.predicted) }));
      const domain = roomy(values.flatMap(({ x, y }) => [x, y]));
      let axis = (settings) => axis_of(domain, settings);
      if (logarithmic) {
        const ends = sign > 0 ? domain : [-domain[1], -domain[0]];
        const ticks = log_ticks(...ends, 6).map((tick) => sign * tick);
        axis = (settings) => ({ ...axis_of(domain, settings), values: ticks, labelExpr: sign > 0 ? "nalmTen(datum.value)" : `'${MINUS}' + nalmTen(-datum.value)` });
      }
      const size = Math.max(160, Math.min(context.width - 76, context.file ? 560 : 480));
      const x = quantity("x", domain, axis({ title: `true ${short(target)}${logarithmic ? ", logarithmic" : ""}`, domain: true }));
      const y = quantity("y", domain, axis({ minExtent: 44 }));
      const ends = { values: domain.map((end) => ({ x: end, y: end })) };
      return { title: { text: `predicted ${short(target)}${logarithmic ? ", logarithmic" : ""}` }, width: size, height: size,
        layer: [{ name: "diagonal", data: ends, mark: { type: "line", strokeWidth: 1.2, strokeDash: DIAGONAL[1], color: context.colour("soft") }, encoding: { x, y } }, marks("points", values, x, y, context)] };
    };
    const toggle = () => (may_log ? [make("label", { class: "toggle controls" }, make("input", { type: "checkbox", id: "toggle-log", checked: logarithmic, onchange: (event) => {
      logarithmic = event.target.checked;
      figure.lead_line.textContent = lead();
      figure.redraw();
    } }), "Logarithmic")] : []);
    const lead = () => {
      const left_out = logarithmic ? rows.filter((row) => !(row.predicted * sign > 0)).length : 0;
      return [lost ? `${plural(lost, "row has", "rows have")} no finite prediction and cannot be drawn.` : "", left_out ? `${plural(left_out, "prediction has", "predictions have")} the other sign and no logarithm.` : ""].filter(Boolean).join(" ");
    };
    const figure = row_figure({
      id: "predicted", title: "Predicted against true", lead: lead(), build, reserve: 560, lines: [DIAGONAL], controls: toggle,
      describe: () => `Predicted against true ${target} for ${plural(shown().length, "row", "rows")}, with the diagonal where both are equal. Largest distance from it: ${residual_words() || "no rows"}.`,
    });
    return figure;
  }

  // The rows and the formula over its one input, with the interval where new rows are expected.
  function curve_figure() {
    const { picture } = data;
    if (!picture?.lines || inputs.length !== 1) return null;
    const { x: across, lines: told } = picture;
    const curve = told.flatMap(({ name, y, low, high }) => across.map((x, at) => ({ x, y: y[at], low: low[at], high: high[at], name })).filter((point) => point.x !== null && point.y !== null));
    if (!curve.length) return null;
    const has_band = told.length === 1 && curve.some(({ low, high }) => low !== null && high !== null);
    const lines = [["the formula", [1, 0], "ink"]];
    const build = (context) => {
      const values = shown().map((row) => ({ at: row.at, set: row.set, x: inputs[0].values[row.at], y: row.truth })).filter(({ x }) => x !== null);
      const domain = roomy([...values.map(({ x }) => x), ...curve.map(({ x }) => x)], 0);
      const height_domain = roomy(rows.map((row) => row.truth), 0.25);
      const inside = (y) => Math.max(height_domain[0], Math.min(height_domain[1], y));
      const x = quantity("x", domain, axis_of(domain, { title: short(inputs[0].name), grid: false, domain: true }));
      const y = quantity("y", height_domain, axis_of(height_domain, { minExtent: 62, maxExtent: 62 }));
      const band = curve.filter(({ low, high }) => low !== null && high !== null).map((point) => ({ x: point.x, y: inside(point.low), y2: inside(point.high) }));
      const width = Math.max(160, Math.min(context.width - 80, context.file ? 640 : 720));
      return { title: { text: short(target) }, width, height: context.narrow && !context.file ? Math.min(320, width) : 380, layer: [
        ...(has_band ? [{ name: "band", data: { values: band }, mark: { type: "area", opacity: 0.16, color: context.colour("m2") }, encoding: { x, y, y2: { field: "y2" } } }] : []),
        { name: "curve", data: { values: curve.map((point) => ({ ...point, y: point.y >= height_domain[0] && point.y <= height_domain[1] ? point.y : null })) }, mark: { type: "line", strokeWidth: 1.6, color: context.colour("ink"), clip: true }, encoding: { x, y, detail: plain("name"), order: { field: "x", type: "quantitative" } } },
        marks("points", values, x, y, context),
      ] };
    };
    return row_figure({
      id: "curve", title: "The data and the formula", build, reserve: 560, lines,
      lead: `${has_band ? "The band is where 99\u202f% of new rows are expected. " : ""}${told.length > 1 ? "One line for each group. " : ""}The formula is drawn a tenth beyond the data.`,
      describe: () => `${target} over ${inputs[0].name}: ${plural(shown().length, "row", "rows")} and the formula as a line. Largest distance: ${residual_words() || "no rows"}.`,
    });
  }
  // The formula over its two inputs as a map, and the rows on it: the darker the larger.
  function map_figure() {
    const { picture } = data;
    if (!picture?.z || inputs.length !== 2) return null;
    const [across, up] = [picture.x, picture.y];
    const column = (name) => inputs.find((input) => input.name === name)?.values;
    const [first, second] = picture.inputs.map(column);
    const known = [...picture.z.filter((z) => z !== null), ...rows.map((row) => row.truth)];
    if (!first || !second || !known.length || across.includes(null) || up.includes(null)) return null;
    // What lies far beyond the data, as near a pole, must not take all shades.
    const truth = [smallest(rows.map((row) => row.truth)), largest(rows.map((row) => row.truth))];
    const share = (z) => Math.max(0, Math.min(1, (z - truth[0]) / (truth[1] - truth[0] || 1)));
    const half = [(across[1] - across[0]) / 2, (up[1] - up[0]) / 2];
    const build = (context) => {
      const cells = picture.z.map((z, at) => ({ z, x: across[at % across.length] - half[0], x2: across[at % across.length] + half[0], y: up[Math.floor(at / across.length)] - half[1], y2: up[Math.floor(at / across.length)] + half[1] }))
        .filter(({ z }) => z !== null).map((cell) => ({ ...cell, share: share(cell.z) }));
      const values = shown().map((row) => ({ at: row.at, set: row.set, x: first[row.at], y: second[row.at], share: share(row.truth) })).filter((point) => point.x !== null && point.y !== null);
      const domains = [[across[0] - half[0], across.at(-1) + half[0]], [up[0] - half[1], up.at(-1) + half[1]]];
      const x = quantity("x", domains[0], axis_of(domains[0], { title: short(picture.inputs[0]), grid: false, domain: true }));
      const y = quantity("y", domains[1], axis_of(domains[1], { grid: false, minExtent: 62, maxExtent: 62 }));
      const shade = { field: "share", type: "quantitative", scale: { domain: [0, 1], range: [0.04, 0.92] }, legend: null };
      const width = Math.max(160, Math.min(context.width - 80, context.file ? 640 : 560));
      return { title: { text: short(picture.inputs[1]) }, width, height: Math.min(width, 440), layer: [
        { name: "map", data: { values: cells }, mark: { type: "rect", color: context.colour("m2"), strokeWidth: 0 }, encoding: { x, x2: { field: "x2" }, y, y2: { field: "y2" }, fillOpacity: shade } },
        { name: "ground", data: { values }, mark: { type: "point", shape: "circle", size: 62, opacity: 1, strokeWidth: 0, fill: context.colour("paper") }, encoding: { x, y } },
        { name: "points", data: { values }, mark: { type: "point", shape: "circle", size: 62, opacity: 1, strokeWidth: 1, fill: context.colour("m2"), stroke: context.colour("ink"), tooltip: { content: "data" } }, encoding: { x, y, fillOpacity: shade } },
      ] };
    };
    return row_figure({
      id: "map", title: "The data and the formula", build, reserve: 560,
      lead: `The darker, the larger ${short(target)}: from ${number(truth[0])} to ${number(truth[1])}. The ground is the formula, a circle a row; a circle that stands out from its ground is off.`,
      describe: () => `${target} over ${picture.inputs.join(" and ")} as a map, with ${plural(shown().length, "row", "rows")} on it. Largest distance: ${residual_words() || "no rows"}.`,
    });
  }

  const MOST_INPUTS = 12;
  function residual_figure() {
    const drawn_inputs = inputs.slice(0, MOST_INPUTS);
    const panels = [{ title: `predicted ${short(target, 28)}`, value: (row) => row.predicted },
      ...drawn_inputs.map(({ name, values }) => ({ title: short(name, 34), value: (row) => values[row.at] }))];
    const build = (context) => {
      const columns = Math.min(panels.length, context.width >= 900 && panels.length !== 4 ? 3 : context.width >= 560 ? 2 : 1);
      const gap = 18;
      const label_room = 62;
      const width = Math.max(140, Math.floor((context.width - 8 - gap * (columns - 1)) / columns) - label_room - 8);
      const height_domain = roomy([0, ...shown().map((row) => row.residual)]);
      const panel_spec = ({ title, value }, index) => {
        const values = shown().map((row) => ({ at: row.at, set: row.set, x: value(row), y: row.residual })).filter(({ x }) => x !== null);
        const domain = roomy(values.map(({ x }) => x));
        const x = quantity("x", domain, axis_of(domain, { title: [title], grid: false, domain: true, tickCount: 4 }));
        const y = quantity("y", height_domain, axis_of(height_domain, { minExtent: label_room, maxExtent: label_room, tickCount: 5 }));
        return { width, height: context.printing ? 130 : 190, layer: [rule(`zero_${index}`, "y", 0, y, context, [1, 0]), marks(`residual_${index}`, values, x, y, context, 32)] };
      };
      return { concat: panels.map(panel_spec), columns, spacing: gap, resolve: { scale: { x: "independent", y: "independent" } } };
    };
    const more = inputs.length > MOST_INPUTS ? ` The first ${MOST_INPUTS} of ${inputs.length} inputs are drawn.` : "";
    return row_figure({
      id: "residuals", title: "Residuals", build, reserve: 300, file_width: 1000,
      lead: `True less predicted ${short(target)}, over the prediction and over each input that the formula uses. A pattern here is something that the formula misses.${more}`,
      describe: () => `Residuals, true less predicted ${target}, over ${panels.map(({ title }) => title).join(", ")}. Sizes: ${residual_words() || "no rows"}.`,
    });
  }

  // How far each row lies from the middle of the box, in half boxes: the largest over the inputs.
  function edge_figure() {
    const boxes = inputs.map(({ name, values }) => {
      const told = data.probe?.box.find(({ column, low, high }) => column === name && low !== null && high !== null);
      const known = values.filter((value) => value !== null);
      const [low, high] = told ? [told.low, told.high] : [smallest(known), largest(known)];
      return { values, middle: low + (high - low) / 2, half: (high - low) / 2 };
    }).filter(({ half }) => half > 0 && Number.isFinite(half));
    if (!boxes.length) return null;
    const distance = (row) => {
      const parts = boxes.map(({ values, middle, half }) => (values[row.at] === null ? null : Math.abs(values[row.at] - middle) / half));
      return parts.includes(null) ? null : largest(parts);
    };
    const far = rows.map((row) => ({ at: row.at, set: row.set, x: distance(row), y: row.residual })).filter(({ x }) => x !== null);
    if (!far.length) return null;
    const reach = largest(far.filter(({ set }) => set === "train").map(({ x }) => x));
    const has_reach = Number.isFinite(reach) && far.some(({ set }) => set !== "train");
    const lines = [["edge of the data", [1, 0], "soft"], ...(has_reach ? [["last training row", [5, 4], "m2"]] : [])];
    const build = (context) => {
      const values = far.filter(({ set }) => !hidden.has(set));
      const domain = [0, Math.max(1, largest(far.map(({ x }) => x))) * 1.04];
      const height_domain = roomy([0, ...values.map(({ y }) => y)]);
      const x = quantity("x", domain, axis_of(domain, { title: "distance from the middle of the data; 1 is the edge of their box", grid: false, domain: true }));
      const y = quantity("y", height_domain, axis_of(height_domain, { minExtent: 62, maxExtent: 62 }));
      const width = Math.max(160, Math.min(context.width - 80, context.file ? 640 : 560));
      return { title: { text: `true less predicted ${short(target, 28)}` }, width, height: context.narrow && !context.file ? Math.min(320, width) : 380,
        layer: [rule("zero", "y", 0, y, context, [1, 0], "rule"), rule("edge", "x", 1, x, context, [1, 0]), ...(has_reach ? [rule("reach", "x", reach, x, context, [5, 4], "m2")] : []), marks("points", values, x, y, context)] };
    };
    return row_figure({
      id: "edge", title: "Towards the edge", build, reserve: 560, lines,
      tip: (datum) => { const tip = point_tip(datum); if (tip) tip.rows.splice(3, 0, ["distance", number(datum.x)]); return tip; },
      lead: "0 is the middle of the box of all inputs, 1 its edge. A formula that only bends to its training rows leaves zero on the right.",
      describe: () => `Residuals over the distance from the middle of the data, 1 being the edge of their box. ${has_reach ? `Training rows reach to ${number(reach)}. ` : ""}Sizes: ${residual_words() || "no rows"}.`,
    });
  }
  const rows_section = () => {
    if (!rows.length) return section("rows", "Row by row", intro(total ? "No row has a finite prediction." : "The file has no rows to draw."));
    const whole = curve_figure() ?? map_figure();
    const figures = [predicted_figure(), edge_figure(), residual_figure()].filter(Boolean);
    const sampled = data.rows !== null && data.rows > total ? `${count(total)} of ${plural(data.rows, "row", "rows")} ${total === 1 ? "is" : "are"} drawn. ` : "";
    return section("rows", "Row by row", intro(sampled, make("span", { class: "controls" }, "Point at a mark for its numbers; click a set of rows to hide or show it.")),
      whole?.element, make("div", { class: "pair" }, figures.slice(0, -1).map((figure) => figure.element)), figures.at(-1).element);
  };

  // ---- candidates ------------------------------------------------------------------------------------------------
  function candidate_figure() {
    const told = data.candidates.flatMap((candidate, index) => (candidate.size === null ? [] : Object.keys(SETS).flatMap((set) => {
      const value = candidate.errors[set]?.rows === 0 ? null : candidate.errors[set]?.relative ?? null;
      return value === null || value < 0 ? [] : [{ candidate: index, set, size: candidate.size, value, chosen: candidate.chosen === true }];
    })));
    if (!told.length) return null;
    const there = Object.keys(SETS).filter((set) => told.some((row) => row.set === set));
    const logs = told.filter(({ value }) => value > 0).map(({ value }) => Math.log10(value));
    const low = logs.length ? Math.floor(smallest(logs)) : -1;
    const high = logs.length ? Math.max(low + 1, Math.ceil(largest(logs))) : 0;
    const zero = told.some(({ value }) => value === 0) ? low - Math.max(0.6, 0.12 * (high - low)) : null;
    const [first, last] = [smallest(told.map(({ size }) => size)), largest(told.map(({ size }) => size))];
    const room = Math.max(0.5, (last - first) * 0.05);
    const across = [first - room, last + room];
    const domain = [zero ?? low, high];
    const chosen = told.find((row) => row.chosen);
    const build = (context) => {
      const shift = (across[1] - across[0]) * 0.011;
      const values = told.map((row) => ({ ...row, x: row.size + (there.indexOf(row.set) - (there.length - 1) / 2) * shift, y: row.value > 0 ? Math.log10(row.value) : zero }));
      const x = quantity("x", across, { title: "size: operations, variables and numbers in the formula", grid: false, tickMinStep: 1, tickCount: context.narrow ? 5 : 10, format: "d", domain: false, ticks: false });
      const y = quantity("y", domain, { title: null, domain: false, ticks: false, minExtent: 44, values: [...(zero === null ? [] : [zero]), ...decades(low, high, 8)], labelExpr: `datum.value === ${zero} ? '0' : nalmPower(datum.value)` });
      const colour = { condition: Object.keys(SETS).map((set) => ({ test: `datum.set === '${set}'`, value: context.colour(SETS[set].colour) })), value: context.colour("soft") };
      const at_top = { x: { ...x, field: "at" }, y: { value: 0 } };
      return { title: { text: "relative error, logarithmic" }, width: context.width - 62, height: context.narrow ? 240 : 280, layer: [
        ...(chosen ? [rule("chosen_rule", "x", chosen.size, x, context, [2, 3], "ink"),
          { name: "chosen_word", data: { values: [{ at: chosen.size }] }, mark: { type: "text", baseline: "bottom", dy: -4, fontSize: 11.5, fontWeight: 600, color: context.colour("ink") }, encoding: { ...at_top, text: { value: "chosen" } } }] : []),
        { name: "steps", data: { values: values.toSorted((a, b) => a.size - b.size || b.y - a.y) }, mark: { type: "line", strokeWidth: 1, opacity: 0.5 }, encoding: { x, y, detail: plain("set"), order: { field: "size", type: "quantitative" }, stroke: colour } },
        ...(chosen ? [{ name: "rings", data: { values: values.filter((row) => row.chosen) }, mark: { type: "point", shape: "circle", size: 240, strokeWidth: 1.4, opacity: 1, fill: "transparent" }, encoding: { x, y, stroke: { value: context.colour("ink") } } }] : []),
        marks("candidates", values, x, y, context, 64),
      ] };
    };
    const figure = new Figure({
      id: "candidates", title: "Error against size", level: 3, build, reserve: 380, file_width: 900, lead: `What a longer formula would gain.${chosen ? " The chosen one is ringed." : ""}`,
      subtitle: () => [`Candidates for ${short(target, 60)}; chosen: ${chosen ? short(data.candidates[chosen.candidate].formula, 70) : "none"}`, data.version],
      keys: (context) => there.map((set) => ({ label: SETS[set].small, shape: SETS[set].shape, colour: context.colour(SETS[set].colour) })),
      describe: () => `Relative error over the size of ${plural(data.candidates.length, "candidate", "candidates")}, on ${there.map((set) => SETS[set].small).join(", ")}. ${chosen ? `Chosen: size ${chosen.size}. ` : ""}The table holds the numbers.`,
      tip: (datum) => {
        const candidate = data.candidates[datum.candidate];
        return candidate && { title: short(candidate.formula, 80), rows: [["size", count(candidate.size)], ...there.map((set) => [SETS[set].small, finite(candidate.errors[set]?.relative ?? null)])], note: candidate.chosen ? "chosen" : "" };
      },
    });
    figure.legend.append(...there.map((set) => make("span", { class: "note-key" }, set_symbol(set), SETS[set].small)));
    return figure;
  }
  function candidate_table() {
    const cell = (error) => make("td", { class: "n" }, error === null || error.rows === 0 ? none() : finite(error.relative));
    return table_box("All candidates", make("table", { class: "candidates" },
      head(["Formula"], ["Size", true], ["Training", true], ["Held out", true], ["Outside", true], ["Trainings that agree", true]),
      make("tbody", null, data.candidates.map((candidate) => make("tr", { class: candidate.chosen ? "chosen" : null },
        make("th", { scope: "row" }, candidate.chosen ? make("strong", { class: "mark" }, "chosen") : null, make("span", { title: candidate.formula }, typeset(candidate.mathml, false) ?? make("code", null, candidate.formula))),
        make("td", { class: "n" }, candidate.size === null ? none() : count(candidate.size)), Object.keys(SETS).map((set) => cell(candidate.errors[set])),
        make("td", { class: "n" }, candidate.agreeing === null ? none() : count(candidate.agreeing)))))));
  }
  const candidates_section = () => section("candidates", "Candidates",
    data.candidates.length ? [intro(`${plural(data.candidates.length, "formula", "formulas")} from short to long, with relative errors.`), candidate_table(), candidate_figure()?.element] : intro("The file has no candidates."));

  // ---- weights ---------------------------------------------------------------------------------------------------
  function weights_section() {
    const drawn = data.layers.map((layer, index) => {
      const label = (axis, at) => {
        if (axis === "input") return index === 0 ? data.columns[at] ?? `input ${at + 1}` : `output ${at + 1} of layer ${index}`;
        if (axis === "output") return index === data.layers.length - 1 && layer.outputs === 1 ? target : `output ${at + 1}`;
        return axis ? `${axis} ${at + 1}` : "";
      };
      const heat = (parameter) => {
        const name = make("p", { class: "heat-name" }, make("code", null, parameter.name));
        if (!parameter.values) return make("div", { class: "heat" }, name, intro(`${count(parameter.height)} by ${count(parameter.width)}: too many to show.`));
        const top = largest([0, ...parameter.values.flat().filter((value) => value !== null).map(Math.abs)]);
        const cell = (value, row, column) => {
          const share = value === null || top === 0 ? 0 : Math.round((58 * Math.abs(value)) / top);
          const tip = { title: `${parameter.name}: ${full(value)}`, rows: [["row", label(parameter.rows, row)], ["column", label(parameter.columns, column)]].filter(([, text]) => text) };
          return make("td", { class: "n", "data-value": value, style: share ? `background: color-mix(in oklab, var(--${value > 0 ? "above" : "below"}) ${share}%, var(--paper))` : null,
            onpointermove: (event) => show_tip(tip, event), onpointerleave: hide_tip }, finite(value));
        };
        const heads = parameter.columns ? make("thead", null, make("tr", null, make("td"), Array.from({ length: parameter.width }, (_, at) => make("th", { scope: "col", class: "n" }, label(parameter.columns, at))))) : null;
        return make("div", { class: "heat" }, name,
          table_box(`${parameter.name} of layer ${index + 1}`, make("table", { class: "heat-map" }, heads,
            make("tbody", null, parameter.values.map((row, at) => make("tr", null, make("th", { scope: "row" }, label(parameter.rows, at)), row.map((value, column) => cell(value, at, column))))))),
          top > 0 ? make("div", { class: "scale", "aria-hidden": "true" }, `${MINUS}${number(top)}`, make("i"), number(top)) : null);
      };
      const sizes_text = [layer.inputs === null ? "" : plural(layer.inputs, "input", "inputs"), layer.outputs === null ? "" : plural(layer.outputs, "output", "outputs")].filter(Boolean).join(", ");
      return make("div", { class: "layer" }, subhead(`Layer ${index + 1}: ${layer.module || "unnamed"}`),
        make("p", { class: "lead-line" }, [layer.title, sizes_text].filter(Boolean).join(", ")),
        layer.parameters.length ? make("div", { class: "heats" }, layer.parameters.map(heat)) : intro("It has no parameters that can be shown."));
    });
    return section("weights", "Weights", drawn.length ? [intro("The layers that spell the formula, first layer first. Rows are inputs, columns outputs; blue is positive, orange negative, and the strongest colour is the largest number of each table."), drawn]
      : intro("The file has no layers."));
  }

  // ---- outside of the data ---------------------------------------------------------------------------------------
  function probe_section() {
    const { probe } = data;
    if (!probe) return section("probe", "Outside of the data", intro("The formula was not probed outside of the data."));
    const share = probe.points > 0 && probe.undefined !== null ? ` (${number((100 * probe.undefined) / probe.points)}\u202f%)` : "";
    const outcome = probe.points === null ? "" : probe.undefined === 0 ? `The formula has a finite value at all of ${plural(probe.points, "point", "points")} in the wider box.`
      : probe.undefined === null ? `${plural(probe.points, "point was", "points were")} probed.` : `At ${count(probe.undefined)} of ${plural(probe.points, "point", "points")}${share} in the wider box the formula has no finite value.`;
    const range = (low, high) => {
      if (low === null || high === null) return "not finite";
      const digits = Math.min(8, digits_for(Math.max(Math.abs(low), Math.abs(high)), high - low));
      return `${in_digits(low, digits)} to ${in_digits(high, digits)}`;
    };
    return section("probe", "Outside of the data", intro("The formula was computed in a box around the data that is wider than they are. ", outcome),
      probe.box.length ? table_box("The box that was probed", make("table", { class: "probe" }, head(["Column"], ["In the data", true], ["Probed", true]),
        make("tbody", null, probe.box.map(({ column, low, high, probed_low, probed_high }) => make("tr", null, make("th", { scope: "row" }, column), make("td", { class: "n" }, range(low, high)), make("td", { class: "n" }, range(probed_low, probed_high))))))) : null,
      probe.remarks.length ? listed(probe.remarks) : make("p", { class: "standfirst" }, "There is nothing to remark."));
  }

  // ---- the page --------------------------------------------------------------------------------------------------
  const links = [["errors", "Errors"], ["rows", "Rows"], ["candidates", "Candidates"], ["weights", "Weights"], ["probe", "Outside"]];
  document.getElementById("page").append(
    headline(),
    make("div", { class: "bar" },
      make("nav", { "aria-label": "Parts of the page" }, make("ul", null, links.map(([id, name]) => make("li", null, make("a", { href: `#${id}` }, name))))),
      make("div", { class: "options" }, nalm.theme_switch())),
    make("main", { id: "content", class: "fit" }, errors_section(), rows_section(), candidates_section(), weights_section(), probe_section()),
    nalm.footer(`${data.made_by}. Made with nalm report ${data.source}.`));
  nalm.start();
})();
