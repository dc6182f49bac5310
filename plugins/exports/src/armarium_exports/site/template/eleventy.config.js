// A site written by Armarium. Build it with: npm install, then npm run build. The site is then in _site.
// SITE_URL=https://example.org/letters npm run build  gives the IIIF manifests the address they will have.
import path from "node:path";

export default function (config) {
  config.addPassthroughCopy({ static: "/" });
  config.addPassthroughCopy({
    "node_modules/openseadragon/build/openseadragon/openseadragon.min.js": "assets/openseadragon.min.js",
  });
  config.addGlobalData("address", (process.env.SITE_URL || "http://localhost:8080").replace(/\/+$/, ""));
  // Links say the way from the page they stand on, so that the site works from any folder.
  config.addFilter("from", (target, url) => path.posix.relative(path.posix.dirname(url), target) || ".");
  const maps = new WeakMap();
  config.addFilter("named", (list, id) => {
    if (!maps.has(list)) maps.set(list, new Map(list.map((one) => [one.id, one])));
    return maps.get(list).get(id);
  });
  return {
    dir: { input: "content", output: "_site" },
    templateFormats: ["njk"],
    htmlTemplateEngine: false,
    markdownTemplateEngine: false,
  };
}
