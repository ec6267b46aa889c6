import { expect, test } from "vitest";
import { closeness, matching, splitVerbs } from "./match";

const find = (query: string, ...names: string[]) => matching(names, query, (name) => name, 10);

test("the best fit comes first, equals keep their order", () => {
  expect(find("api", "my-api", "api-server", "rapid", "api", "old-api")).toEqual([
    "api",
    "api-server",
    "my-api",
    "old-api",
    "rapid",
  ]);
});

test("all words must be there, in any order, whatever their case and accents", () => {
  expect(find("SERV api", "api-server", "server", "api")).toEqual(["api-server"]);
  expect(find("demarrer", "Démarrer : premier", "Arrêter")).toEqual(["Démarrer : premier"]);
  expect(closeness("x", "abc")).toBeUndefined();
});

test("without a query all are there, up to the most", () => {
  expect(matching(["b", "a", "c"], " ", (name) => name, 2)).toEqual(["b", "a"]);
});

test("a query may begin with a verb, of several words too", () => {
  const verbs = [
    ["start", "Démarrer"],
    ["stop", "Arrêter"],
    ["update", "Mettre à jour"],
  ] as const;
  expect(splitVerbs("arreter mon api", verbs)).toEqual([["stop", "mon api"]]);
  expect(splitVerbs("Mettre à jour api", verbs)).toEqual([["update", "api"]]);
  expect(splitVerbs("mettre api", verbs)).toEqual([["update", "api"]]);
  expect(splitVerbs("dem", verbs)).toEqual([["start", ""]]);
  expect(splitVerbs("d", verbs)).toEqual([]);
  expect(splitVerbs("api", verbs)).toEqual([]);
});
