/** Writes the Brotli and gzip forms of each built file beside it, once, so that the server compresses nothing. */

import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Below this many bytes nothing is won. */
const WORTH_IT = 600;

function filesIn(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });
}

export function compress(directory: string): Plugin {
  return {
    name: "compress",
    apply: "build",
    closeBundle() {
      for (const path of filesIn(directory)) {
        if (!/\.(js|css|svg)$/.test(path)) continue;
        const plain = readFileSync(path);
        if (plain.length < WORTH_IT) continue;
        const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        writeFileSync(`${path}.br`, brotliCompressSync(plain, { params: quality }));
        writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
      }
      // The directory is in the repository so that the server's build can watch it; its content is not.
      writeFileSync(join(directory, ".gitignore"), "*\n!.gitignore\n");
    },
  };
}
