/** Who one is, and what the deployment says of itself. */

import type { Check } from "@/api/endpoints";
import type { User } from "@/api/types";
import { http } from "../api";
import { buildInfo, user } from "../samples";
import type { World } from "../world";

const UNAUTHORIZED = {
  message: "You are signed out or your session has expired. Please sign in again to continue.",
};

export const sessionHandlers = (world: World) => [
  http.get("/buildinfo", ({ response }) => response(200).json(buildInfo({ version: world.version }))),
  http.get("/users/authmethods", ({ response }) => response(200).json(world.authMethods)),
  http.get("/users/first", ({ response }) =>
    world.setUp
      ? response(200).json({ message: "The initial user has already been created!" })
      : response("default").json({ message: "The initial user has not been created!" }, { status: 404 }),
  ),
  http.post("/users/first", async ({ request, response }) => {
    const { username = "", name = "", email = "" } = await request.json();
    const first = user({ username, name, email });
    Object.assign(world, { setUp: true, users: [first] });
    return response(201).json({ user_id: first.id, organization_id: first.organization_ids[0] ?? "" });
  }),
  http.post("/users/validate-password", async ({ request, response }) => {
    const { password = "" } = await request.json();
    const valid = password.length >= 8;
    return response(200).json({
      valid,
      details: valid ? "" : "insecure password, try including more special characters",
    });
  }),
  http.post("/users/login", async ({ request, response }) => {
    const { email, password } = await request.json();
    const found = world.users.find((each) => each.email === email);
    if (!found || password === "") {
      return response("default").json({ message: "Incorrect email or password." }, { status: 401 });
    }
    world.me = found;
    return response(201).json({ session_token: "Hn3v0Qx1aB-0aYpQd4wVvB2mS5kT8rZcXe" });
  }),
  http.put("/users/{user}/password", async ({ params, request, response }) => {
    const { old_password, password = "", must_change_password = false } = await request.json();
    if (password.length < 8)
      return response("default").json(
        { message: "Validation failed.", validations: [{ field: "password", detail: "is too weak" }] },
        { status: 400 },
      );
    const own = params.user === "me";
    if (own && !old_password)
      return response("default").json({ message: "Old password is required." }, { status: 400 });
    const change = (each: User) => ({ ...each, must_change_password });
    const id = own ? world.me?.id : params.user;
    world.users = world.users.map((each) => (each.id === id ? change(each) : each));
    if (world.me?.id === id) world.me = undefined;
    return response(204).empty();
  }),
  http.post("/users/logout", ({ response }) => {
    world.me = undefined;
    return response(200).json({ message: "Logged out!" });
  }),
  http.get("/users/roles", ({ response }) => response(200).json(world.roles)),
  http.get("/users/{user}", ({ params, response }) => {
    if (!world.me) return response("default").json(UNAUTHORIZED, { status: 401 });
    if (params.user === "me") return response(200).json(world.me);
    const found = world.users.find((each) => each.id === params.user || each.username === params.user);
    if (!found)
      return response("default").json(
        { message: "Resource not found or you do not have access to this resource" },
        { status: 404 },
      );
    return response(200).json(found);
  }),
  http.post("/authcheck", async ({ request, response }) => {
    const { checks } = (await request.json()) as { checks: Record<string, Check> };
    return response(200).json(
      Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, world.may(check)])),
    );
  }),
  http.get("/deployment/ssh", ({ response }) =>
    response(200).json({ hostname_prefix: "coder.", hostname_suffix: "coder", ssh_config_options: {} }),
  ),
];
