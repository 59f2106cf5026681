// Times as people say them. Pure: every function takes milliseconds since 1970 and the present as its last argument.

import {plural} from "./numbers.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const two = (number) => String(number).padStart(2, "0");

// Midnight of the day, in this machine's time zone.
function startOfDay(time) {
  const date = new Date(time);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

// Calendar days between two times; rounded because of days with 23 or 25 hours.
function daysBetween(earlier, later) {
  return Math.round((startOfDay(later) - startOfDay(earlier)) / DAY);
}

// "14:05:40"
export function clockTime(time) {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

// "4 Feb 2026"
export function fullDate(time) {
  const date = new Date(time);
  return `${date.getDate()} ${MONTHS[date.getMonth()]} ${date.getFullYear()}`;
}

// "4 Feb", with the year when it is not this one.
export function shortDate(time, now = Date.now()) {
  const date = new Date(time);
  if (date.getFullYear() !== new Date(now).getFullYear()) return fullDate(time);
  return `${date.getDate()} ${MONTHS[date.getMonth()]}`;
}

// "Today", "Yesterday", "8 Nov": the heading of a day.
export function dayName(time, now = Date.now()) {
  const days = daysBetween(time, now);
  if (days <= 0) return "Today";
  return days === 1 ? "Yesterday" : shortDate(time, now);
}

// "Yesterday 02:00", "7 Nov 02:00".
export function dayAndTime(time, now = Date.now()) {
  const date = new Date(time);
  return `${dayName(time, now)} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

// "now", "4 min ago", "3 h ago", "yesterday", "3 days ago", "3 Nov".
export function timeAgo(time, now = Date.now()) {
  const passed = now - time;
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min ago`;
  const days = daysBetween(time, now);
  if (days === 0 || passed < 6 * HOUR) return `${Math.floor(passed / HOUR)} h ago`;
  if (days === 1) return "yesterday";
  return days < 7 ? `${days} days ago` : shortDate(time, now);
}

// "in 4 min", "in 3 h", "in 29 days", "in 11 months", "in 2 years"; "expired" for the past.
export function timeUntil(time, now = Date.now()) {
  const left = time - now;
  if (left <= 0) return "expired";
  if (left < HOUR) return `in ${Math.max(1, Math.floor(left / MINUTE))} min`;
  if (left < DAY) return `in ${Math.floor(left / HOUR)} h`;
  const days = Math.floor(left / DAY);
  if (days < 60) return `in ${plural(days, "day")}`;
  const months = Math.floor(days / 30.44);
  return months < 24 ? `in ${plural(months, "month")}` : `in ${plural(Math.floor(days / 365.25), "year")}`;
}

// Full date and time, for the title of a shortened one: "4 Feb 2026, 14:05:40".
export function exactTime(time) {
  return `${fullDate(time)}, ${clockTime(time)}`;
}

// Calls `refresh` every minute, because "4 min ago" becomes wrong by itself. Returns a function that ends it.
export function everyMinute(refresh) {
  const timer = setInterval(refresh, MINUTE);
  return () => clearInterval(timer);
}
