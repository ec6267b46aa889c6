import { expect, test } from "vitest";
import { dayName, daysInWords, daysOf, readSchedule, timeZones, writeSchedule } from "./schedule";

test("what the form writes, it reads again", () => {
  for (const text of [
    "CRON_TZ=Europe/Paris 30 8 * * 1-5",
    "CRON_TZ=UTC 0 0 * * *",
    "CRON_TZ=America/New_York 5 23 * * 0,6",
    "CRON_TZ=Asia/Tokyo 15 9 * * 1,3,5",
    "CRON_TZ=UTC 15 9 * * 0-2,6",
  ]) {
    const read = readSchedule(text);
    expect(read && writeSchedule(read), text).toBe(text);
  }
});

test("cron is read as the server and other clients write it", () => {
  expect(readSchedule("30 9 * * MON-FRI")).toEqual({ days: [1, 2, 3, 4, 5], time: "09:30", zone: "UTC" });
  expect(readSchedule("CRON_TZ=UTC 0 9 * * 5-7")?.days).toEqual([5, 6, 0]);
  expect(readSchedule("CRON_TZ=UTC 0 9 * * 7")?.days).toEqual([0]);
});

test("what the form cannot say is not read as something else", () => {
  for (const text of [
    "",
    "CRON_TZ=UTC 0 9,17 * * 1-5",
    "*/5 9 * * 1",
    "0 9 * * 1#2",
    "0 9 * *",
    "0 9 * * 1-2-3",
  ]) {
    expect(readSchedule(text), text).toBeUndefined();
  }
});

test("days are said as people say them", () => {
  expect(daysInWords("en", [1, 2, 3, 4, 5])).toBe("Mon–Fri");
  expect(daysInWords("en", [1, 3, 5])).toBe("Mon, Wed, and Fri");
  expect(daysInWords("en", [6, 0])).toBe("Sat and Sun");
  expect(daysInWords("fr", [1, 2, 3, 4, 5])).toBe("lun.–ven.");
  expect(dayName("fr", 0, "long")).toBe("dimanche");
});

test("a template that names no days allows all", () => {
  expect(daysOf([])).toHaveLength(7);
  expect(daysOf(["sunday", "monday"])).toEqual([1, 0]);
});

test("a zone that the browser does not know can be kept", () => {
  expect(timeZones("Mars/Olympus")).toContain("Mars/Olympus");
  expect(timeZones("UTC").filter((zone) => zone === "UTC")).toHaveLength(1);
});
