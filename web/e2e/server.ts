/** A real server with its own database, for one test; it ends with it. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ViteDevServer } from "vite";

const run = promisify(execFile);

/** The program under test. */
function binary(): string {
  const path = process.env.CODER_TEST_BINARY;
  if (!path) throw new Error("CODER_TEST_BINARY must name the coder binary; './dev test' sets it");
  return path;
}

/** A port below those that the kernel gives to whoever asks for any, so that nobody gets it before it is used. */
async function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000);
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
  return free ? port : freePort();
}

export class Server {
  private process: ChildProcess | undefined;
  private vite: ViteDevServer | undefined;

  private constructor(
    /** Where the server listens. */
    private readonly address: string,
    /** Where its files are, and the templates that it is given. */
    readonly directory: string,
    /** Where its pages are. */
    readonly url = address,
  ) {}

  static async start(): Promise<Server> {
    const directory = await mkdtemp(join(tmpdir(), "coder-e2e-"));
    // The built-in PostgreSQL runs as another account when we are root, and must get to its data.
    await chmod(directory, 0o755);
    const address = `http://127.0.0.1:${await freePort()}`;
    const pages = process.env.CODER_TEST_LIVE ? `http://127.0.0.1:${await freePort()}` : address;
    const server = new Server(address, directory, pages);
    await mkdir(join(directory, "home"));
    await server.launch();
    if (pages !== address) await server.servePages();
    return server;
  }

  /** With CODER_TEST_LIVE the pages are those of the sources as they are now, not those built into the binary. */
  private async servePages(): Promise<void> {
    process.env.CODER_DEV_SERVER = this.address;
    const { createServer } = await import("vite");
    this.vite = await createServer({
      root: fileURLToPath(new URL("..", import.meta.url)),
      cacheDir: join(this.directory, "vite"),
      logLevel: "error",
      server: { host: "127.0.0.1", port: Number(new URL(this.url).port), strictPort: true },
    });
    await this.vite.listen();
  }

  /** Starts the server, on its address and with its data. */
  async launch(): Promise<void> {
    const config = join(this.directory, "server");
    this.process = spawn(binary(), ["server"], {
      env: {
        ...process.env,
        HOME: join(this.directory, "home"),
        CODER_CONFIG_DIR: config,
        CODER_CACHE_DIRECTORY: join(config, "cache"),
        CODER_HTTP_ADDRESS: new URL(this.address).host,
        CODER_ACCESS_URL: this.address,
      },
      stdio: "ignore",
    });
    const until = Date.now() + 90_000;
    while (!(await fetch(`${this.address}/healthz`).catch(() => undefined))?.ok) {
      if (Date.now() > until || this.process.exitCode !== null)
        throw new Error("the server did not become healthy");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async halt(): Promise<void> {
    const process = this.process;
    this.process = undefined;
    if (!process || process.exitCode !== null) return;
    await new Promise<void>((resolve) => {
      process.once("exit", () => resolve());
      process.kill("SIGTERM");
    });
  }

  async stop(): Promise<void> {
    await this.vite?.close();
    await this.halt();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Runs the command line as the user that has signed in with it. */
  async coder(...words: string[]): Promise<string> {
    const { stdout } = await run(binary(), words, {
      cwd: this.directory,
      env: {
        ...process.env,
        HOME: join(this.directory, "home"),
        CODER_CONFIG_DIR: join(this.directory, "cli"),
      },
    });
    return stdout;
  }

  /** Runs the command line as whoever runs the server. */
  async admin(...words: string[]): Promise<string> {
    const { stdout } = await run(binary(), words, {
      env: {
        ...process.env,
        HOME: join(this.directory, "home"),
        CODER_CONFIG_DIR: join(this.directory, "server"),
      },
    });
    return stdout;
  }

  /** Signs in, as the first user where there is none, and pushes the starter template `local`, which needs nothing but this machine. */
  async pushTemplate(email: string, password: string): Promise<void> {
    await this.coder(
      "login",
      this.address,
      "--first-user-username",
      "owner",
      "--first-user-email",
      email,
      "--first-user-password",
      password,
    ).catch(async () => {
      const response = await fetch(`${this.address}/api/v2/users/login`, {
        method: "POST",
        body: JSON.stringify({ email, password }),
      });
      const { session_token } = (await response.json()) as { session_token: string };
      await this.coder("login", this.address, "--token", session_token);
    });
    await this.coder("templates", "init", "--id", "local", "local");
    await this.coder("templates", "push", "local", "-d", "local", "--yes");
  }
}

/** The source of a library, to run in pages that load nothing from elsewhere. */
export const source = (path: string) => readFile(path, "utf8");
