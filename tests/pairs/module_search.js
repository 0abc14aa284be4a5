// Looks a module up in a row of folders for each import, as a bundler does without a cache.
const fs = require('fs'), os = require('os'), path = require('path');
const fixed = process.argv[2] === 'fixed';
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'modules-'));
const folders = [...Array(12).keys()].map((n) => path.join(root, `f${n}`));
folders.forEach((folder) => fs.mkdirSync(folder));
for (let n = 0; n < 40; n++) fs.writeFileSync(path.join(folders[11], `m${n}.js`), `${n}`);
const kept = new Map();
function resolve(name) {
  if (fixed && kept.has(name)) return kept.get(name);
  const found = folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
  kept.set(name, found);
  return found;
}
let length = 0;
for (let n = 0; n < 8000; n++) length += resolve(`m${n % 40}.js`).length + JSON.stringify({ n, at: [n, n + 1, n + 2] }).length;
console.log(length > 0);
fs.rmSync(root, { recursive: true });
