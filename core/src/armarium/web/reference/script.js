"use strict";
// Draws the description at /openapi.json and, on /docs, sends requests. Text is set as text, never as markup.
(() => {
  const interactive = !location.pathname.endsWith("/redoc");
  const place = (id) => document.getElementById(id);
  let schemas = {};

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== undefined) node.setAttribute(name, value);
    }
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }

  function resolved(schema, seen = []) {
    if (!schema || typeof schema !== "object") return {};
    if (schema.$ref) {
      const name = schema.$ref.split("/").pop();
      return seen.includes(name) ? {} : { title: name, ...resolved(schemas[name], [...seen, name]) };
    }
    if (schema.allOf && schema.allOf.length === 1) return { ...resolved(schema.allOf[0], seen), ...schema };
    return schema;
  }

  // An example value that a schema allows: its own example or default, else the simplest of its kind.
  function example(schema, depth = 0, seen = []) {
    const name = schema && schema.$ref ? schema.$ref.split("/").pop() : null;
    if (depth > 6 || (name && seen.includes(name))) return null;
    const path = name ? [...seen, name] : seen;
    const known = resolved(schema);
    if (known.examples && known.examples.length) return known.examples[0];
    if (known.default !== undefined) return known.default;
    if (known.const !== undefined) return known.const;
    if (known.enum) return known.enum[0];
    const choices = known.anyOf || known.oneOf;
    if (choices) return example(choices[0], depth + 1, path);
    const kind = Array.isArray(known.type) ? known.type[0] : known.type;
    if (kind === "object" || known.properties) {
      const required = new Set(known.required || []);
      const entries = Object.entries(known.properties || {}).filter(([key]) => required.size === 0 || required.has(key));
      return Object.fromEntries(entries.map(([key, value]) => [key, example(value, depth + 1, path)]));
    }
    if (kind === "array") return known.items ? [example(known.items, depth + 1, path)] : [];
    return { string: "", integer: known.minimum ?? 0, number: known.minimum ?? 0, boolean: false }[kind] ?? null;
  }

  function kindOf(schema) {
    const known = resolved(schema);
    const choices = known.anyOf || known.oneOf;
    if (choices) return choices.map(kindOf).join(" or ");
    if (known.enum) return known.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (known.const !== undefined) return JSON.stringify(known.const);
    if (known.type === "array") return `list of ${kindOf(known.items)}`;
    const bounds = [known.minimum !== undefined && `from ${known.minimum}`, known.maximum !== undefined && `to ${known.maximum}`];
    return [known.title && known.properties ? known.title : known.type || "anything", ...bounds.filter(Boolean)].join(" ");
  }

  function isProject(parameter) {
    return parameter.name === "X-Service-Library-Path" || (parameter.in === "query" && parameter.name === "library");
  }

  function fields(parameters) {
    const table = make("table");
    const inputs = [];
    for (const parameter of parameters.filter((p) => !isProject(p))) {
      const shown = parameter.schema && parameter.schema.default;
      const input = make("input", { placeholder: shown === undefined || shown === null ? "" : String(shown) });
      inputs.push({ parameter, input });
      const words = [kindOf(parameter.schema), parameter.required ? "required" : "optional", parameter.description];
      const label = make("td", {}, make("code", {}, parameter.name), make("small", {}, words.filter(Boolean).join(" · ")));
      table.append(make("tr", {}, label, interactive ? make("td", {}, input) : null));
    }
    return { table, inputs };
  }

  function addressOf(path, inputs) {
    const query = new URLSearchParams();
    let address = path;
    for (const { parameter, input } of inputs) {
      const value = input.value;
      if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(value));
      else if (parameter.in === "query" && value !== "") {
        const many = resolved(parameter.schema).type === "array";
        for (const part of many ? value.split(",") : [value]) query.append(parameter.name, part.trim());
      }
    }
    return String(query) ? `${address}?${query}` : address;
  }

  async function send(path, method, inputs, body, kind, output) {
    const headers = { "X-Service-Client": "reference page" };
    const token = place("token").value.trim();
    const project = place("project").value.trim();
    if (token) headers.Authorization = `Bearer ${token}`;
    if (project) headers["X-Service-Library-Path"] = encodeURIComponent(project.normalize("NFC"));
    for (const { parameter, input } of inputs) if (parameter.in === "header" && input.value) headers[parameter.name] = input.value;
    const request = { method: method.toUpperCase(), headers };
    if (body && body.value.trim()) {
      headers["Content-Type"] = kind;
      request.body = body.value;
    }
    output.hidden = false;
    output.textContent = "…";
    try {
      const began = performance.now();
      const answer = await fetch(addressOf(path, inputs), request);
      const type = answer.headers.get("content-type") || "";
      let shown;
      if (type.includes("json")) shown = JSON.stringify(await answer.json(), null, 2);
      else if (type.startsWith("text/event-stream")) shown = "(a stream of events: follow it with curl)";
      else if (type.startsWith("text/") || type.includes("xml")) shown = await answer.text();
      else shown = `(${(await answer.arrayBuffer()).byteLength} bytes of ${type})`;
      const row = answer.headers.get("x-service-audit-id");
      const head = `${answer.status} ${answer.statusText} in ${Math.round(performance.now() - began)} ms`;
      output.textContent = `${head}${row ? `, audit row ${row}` : ""}\n\n${shown}`;
    } catch (error) {
      output.textContent = `No answer: ${error.message}. Is the engine still running?`;
    }
  }

  function route(path, method, operation) {
    const inside = make("div", { class: "body" });
    const folded = make(
      "details",
      {},
      make("summary", {}, make("span", { class: `verb ${method}` }, method.toUpperCase()), make("code", {}, path), make("span", {}, operation.summary || "")),
      inside,
    );
    folded.addEventListener("toggle", () => {
      if (folded.open && !inside.firstChild) fill(inside, path, method, operation);
    });
    return folded;
  }

  function fill(inside, path, method, operation) {
    if (operation.description) inside.append(make("p", {}, operation.description));
    const { table, inputs } = fields(operation.parameters || []);
    if (table.firstChild) inside.append(table);
    const contents = (operation.requestBody && operation.requestBody.content) || {};
    const kind = Object.keys(contents)[0];
    let body = null;
    if (kind) {
      const text = JSON.stringify(example(contents[kind].schema), null, 2);
      inside.append(make("small", {}, `Body: ${kind}, ${kindOf(contents[kind].schema)}`));
      body = interactive && kind.includes("json") ? make("textarea", { spellcheck: "false" }) : null;
      if (body) body.value = text;
      inside.append(body || make("pre", {}, text));
    }
    const answers = Object.entries(operation.responses || {}).map(([status, answer]) => make("span", {}, make("b", {}, status), ` ${answer.description} `));
    if (interactive) {
      const output = make("pre", { hidden: true });
      const button = make("button", { type: "button" }, "Send");
      button.addEventListener("click", () => send(path, method, inputs, body, kind, output));
      inside.append(button, output);
    }
    inside.append(make("p", { class: "answers" }, ...answers));
    const good = (operation.responses["200"] || operation.responses["201"] || operation.responses["202"] || {}).content;
    const shape = good && good["application/json"] && good["application/json"].schema;
    if (shape) inside.append(make("pre", {}, JSON.stringify(example(shape), null, 2)));
  }

  function draw(description) {
    schemas = (description.components && description.components.schemas) || {};
    place("version").textContent = description.info.version;
    place("about").textContent = description.info.description || "";
    const groups = new Map();
    for (const [path, operations] of Object.entries(description.paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const group = (operation.tags && operation.tags[0]) || "other";
        if (!groups.has(group)) groups.set(group, []);
        groups.get(group).push({ words: `${method} ${path} ${operation.summary || ""}`.toLowerCase(), node: route(path, method, operation) });
      }
    }
    const routes = place("routes");
    routes.textContent = "";
    const sections = [...groups].map(([name, entries]) => {
      const section = make("section", {}, make("h2", {}, name), ...entries.map((entry) => entry.node));
      routes.append(section);
      return { section, entries };
    });
    place("find").addEventListener("input", () => {
      const words = place("find").value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const { section, entries } of sections) {
        for (const entry of entries) entry.node.hidden = !words.every((word) => entry.words.includes(word));
        section.hidden = entries.every((entry) => entry.node.hidden);
      }
    });
  }

  place("who").addEventListener("submit", (event) => event.preventDefault());
  place("token").parentNode.hidden = place("project").parentNode.hidden = !interactive;
  fetch("/openapi.json")
    .then((answer) => answer.json())
    .then(draw)
    .catch((error) => {
      place("routes").textContent = `The description cannot be read: ${error.message}`;
    });
})();
