// A site written by Armarium. Build it with: npm install, then npm run build. The site is then in _site.
// SITE_URL=https://example.org/letters npm run build  gives the IIIF manifests the address they will have.
import fs from "node:fs";
import path from "node:path";

// Tiles are many: where the disk can, they are linked into the site and not copied.
function bring(from, to) {
  fs.mkdirSync(to, { recursive: true });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) bring(source, target);
    else {
      fs.rmSync(target, { force: true });
      try {
        fs.linkSync(source, target);
      } catch {
        fs.copyFileSync(source, target);
      }
    }
  }
}

export default function (config) {
  config.on("eleventy.before", () => fs.rmSync("_site", { recursive: true, force: true }));
  config.on("eleventy.after", () => bring("static", "_site"));
  config.addPassthroughCopy({
    "node_modules/openseadragon/build/openseadragon/openseadragon.min.js": "assets/openseadragon.min.js",
  });
  config.addGlobalData("address", (process.env.SITE_URL || "http://localhost:8080").replace(/\/+$/, ""));
  // Links say the way from the page they stand on, so that the site works from any folder.
  config.addFilter("from", (target, url) => path.posix.relative(path.posix.dirname(url), target) || ".");
  // What a browser's tab shows: 70 characters of HTML at most, the heading before the name of the site.
  const weight = (letter) => ({ "&": 5, "<": 4, ">": 4, '"': 6, "'": 5, "`": 5, "\\": 5 })[letter] || 1;
  const length = (letters) => [...letters].reduce((sum, letter) => sum + weight(letter), 0);
  config.addFilter("brief", (heading, title) => {
    const whole = (heading && heading !== title ? `${heading} – ${title}` : title).replace(/\s+/g, " ").trim();
    if (length(whole) <= 70) return whole;
    const letters = [...(heading || title).replace(/\s+/g, " ").trim()];
    if (length(letters) <= 70) return letters.join("");
    while (length(letters) > 68) letters.pop();
    return letters.join("") + " …";
  });
  const maps = new WeakMap();
  config.addFilter("named", (list, id) => {
    if (!maps.has(list)) maps.set(list, new Map(list.map((one) => [one.id, one])));
    return maps.get(list).get(id);
  });
  config.addFilter("manifest", (leaf, address) => {
    const base = `${address}/${leaf.picture.folder}`;
    const { shown, width, height } = leaf.picture;
    const service = [{ id: base, type: "ImageService3", profile: "level0" }];
    const body = { id: `${address}/${shown.src}`, type: "Image", format: "image/jpeg", width: shown.width, height: shown.height, service };
    const painting = { id: `${base}/painting`, type: "Annotation", motivation: "painting", target: `${base}/canvas`, body };
    // A value that begins and ends like a tag would be taken for HTML.
    const escaped = leaf.title.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const label = { none: [/^<.*>$/s.test(leaf.title.trim()) ? `<span>${escaped}</span>` : leaf.title] };
    return JSON.stringify({
      "@context": "http://iiif.io/api/presentation/3/context.json",
      id: `${base}/manifest.json`,
      type: "Manifest",
      label,
      items: [{ id: `${base}/canvas`, type: "Canvas", label, width, height,
        items: [{ id: `${base}/page`, type: "AnnotationPage", items: [painting] }] }],
    });
  });
  config.addFilter("information", (leaf, address) => {
    const { folder, width, height, shown, sizes, tiles } = leaf.picture;
    return JSON.stringify({
      "@context": "http://iiif.io/api/image/3/context.json",
      id: `${address}/${folder}`,
      type: "ImageService3",
      protocol: "http://iiif.io/api/image",
      profile: "level0",
      width, height, maxWidth: shown.width, maxHeight: shown.height, sizes, tiles,
    });
  });
  return {
    dir: { input: "content", output: "_site" },
    templateFormats: ["njk"],
    htmlTemplateEngine: false,
    markdownTemplateEngine: false,
  };
}
