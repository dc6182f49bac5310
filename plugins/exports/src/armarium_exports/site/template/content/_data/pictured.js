// The pages that have a picture.
import { readFileSync } from "node:fs";

export default () => JSON.parse(readFileSync(new URL("./pages.json", import.meta.url))).filter((one) => one.picture);
