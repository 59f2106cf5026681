// Checks the arguments of calls against the schemas, with the same error messages as Python (hatbox/schema/types.py and
// calls.py), because a call must throw synchronously. Python checks them again. The result is JSON text.
// A schema with an unknown keyword is checked by Python only.

import {
  NativeError, NativeMap, NativeRegExp, append, create, dateGetTime, each, getOwnPropertyDescriptor, hasOwn, isArray, isInteger, isSafeInteger, join,
  mapForEach, mapGet, mapHas, mapSet, mapSize, mapped, objectKeys, regExpExec, sort, split, stringify, toLowerCase,
} from "./primordials.js";
import {className, dataOf, encode, encodeAsJson, encodeMessage, keyOf, quote, show} from "./values.js";

const KNOWN = {
  __proto__: null, name: 1, id: 1, description: 1, aliases: 1, optional: 1, default: 1, type: 1, choices: 1, enum: 1,
  properties: 1, additionalProperties: 1, items: 1, minimum: 1, maximum: 1, minItems: 1, maxItems: 1, pattern: 1,
  maxLength: 1, deprecated: 1, patternProperties: 1, isInstanceOf: 1, unsupported: 1, format: 1, refusal: 1, onError: 1, lowercase: 1,
};

class UnknownSchema {}

// A value that does not match its type. Not an Error: it is used only in this file, and capturing a stack is slow.
class Mismatch {
  constructor(problem, choice, path = "") {
    this.problem = problem;
    this.choice = choice;
    this.path = path;
  }

  inside(name) { return new Mismatch(this.problem, this.choice, this.path ? `${name}.${this.path}` : name); }
  get text() { return this.path ? `Error processing ${this.path}: ${this.problem}` : this.problem; }
  get asChoice() { return this.path ? `.${this.path} must ${this.choice}` : this.choice; }
}

// Returns a function that checks the arguments of a call and returns {text, callback, matched, checked}: the JSON text
// for Python, the callback, and one argument for each parameter. `checked` is false if only Python can check them.
// Compiled when it is first called: scripts call few of the functions that they see.
export function compileCall(path, parameters, takesCallback) {
  let check = null;
  return args => (check ??= compiled(path, withoutPrototypes(parameters), takesCallback))(args);
}

// A copy of JSON data that inherits nothing: by now a script may have changed Object.prototype.
function withoutPrototypes(data) {
  if (typeof data !== "object" || data === null) return data;
  if (isArray(data)) return mapped(data, withoutPrototypes);
  const copy = create(null);
  each(objectKeys(data), key => { copy[key] = withoutPrototypes(data[key]); });
  return copy;
}

function compiled(path, parameters, takesCallback) {
  let expected;
  try {
    expected = mapped(parameters, schema => ({name: schema.name, optional: schema.optional ?? false, type: compileType(schema)}));
  } catch (error) {
    if (!(error instanceof UnknownSchema)) throw error;
    return args => unchecked(args, takesCallback);
  }
  const sent = takesCallback ? expected.length - 1 : expected.length;
  return args => {
    const quick = args.length === sent ? quickText(expected, args) : null;
    if (quick !== null) return {__proto__: null, text: quick, callback: null, checked: true, matched: args};
    const matched = match(expected, 0, args, 0);
    if (matched === null) throw new NativeError(`Incorrect argument types for ${path}.`);
    let text = "";
    for (let i = 0; i < sent; i++) text += (i ? "," : "") + argument(path, expected[i], matched[i]);
    return {__proto__: null, text: `[${text}]`, callback: takesCallback ? matched[sent] ?? null : null, checked: true, matched};
  };
}

// For functions whose arguments a list of parameters cannot describe: Python checks them.
export function anyArguments(args) {
  const last = args.length - 1;
  const callback = typeof args[last] === "function" ? args[last] : null;
  let text = "";
  for (let i = 0; i < (callback ? last : args.length); i++) text += (i ? "," : "") + encodeMessage(args[i]);
  return {__proto__: null, text: `[${text}]`, callback, checked: false, matched: args};
}

// The fast path: nearly every call is valid and has one argument for each parameter.
function quickText(expected, args) {
  let text = "";
  for (let i = 0; i < args.length; i++) {
    const {type} = expected[i];
    if (!type.fits(args[i])) return null;
    try {
      text += (i ? "," : "") + type.text(args[i]);
    } catch (error) {
      if (error instanceof Mismatch) return null; // match() throws the error
      throw error;
    }
  }
  return `[${text}]`;
}

function unchecked(args, takesCallback) {
  const last = args.length - 1;
  const callback = takesCallback && typeof args[last] === "function" ? args[last] : null;
  let text = "";
  for (let i = 0; i < (callback ? last : args.length); i++) text += (i ? "," : "") + encode(args[i]);
  return {__proto__: null, text: `[${text}]`, callback, checked: false, matched: args};
}

function argument(path, {name, optional, type}, value) {
  if (optional && (value === null || value === undefined)) return "null";
  try {
    return type.text(value);
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    throw new NativeError(`Type error for parameter ${name} (${error.text}) for ${path}.`);
  }
}

// One argument for each parameter, null for an absent optional one. Returns null if they do not match.
function match(expected, e, args, a) {
  if (e === expected.length) return a === args.length ? {__proto__: null} : null;
  const {type, optional} = expected[e];
  if (a < args.length && (type.fits(args[a]) || (optional && (args[a] === null || args[a] === undefined)))) {
    const matched = match(expected, e + 1, args, a + 1);
    if (matched !== null) {
      matched[e] = args[a];
      return matched;
    }
  }
  if (!optional) return null;
  const matched = match(expected, e + 1, args, a);
  if (matched !== null) matched[e] = null;
  return matched;
}

function compileType(schema) {
  each(objectKeys(schema), word => { if (!(word in KNOWN)) throw new UnknownSchema(); });
  if (schema.choices) return choices(mapped(schema.choices, compileType));
  const compile = COMPILERS[schema.type];
  if (compile === undefined) throw new UnknownSchema();
  return compile(schema);
}

const isObject = value => typeof value === "object" && value !== null && !isArray(value);
const isWholeNumber = value => typeof value === "number" && isInteger(value);

function wrongKind(kind, value, choice) {
  return new Mismatch(`Expected ${kind} instead of ${show(value)}`, choice);
}

const NativeURL = URL;
const DATE_TEXT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{3})?(Z|([-+]\d{2}:?\d{2})))?$/;
const FORMATS = {
  __proto__: null,

  date(text) {
    if (regExpExec(DATE_TEXT, text) === null) throw new Mismatch(`Error: Invalid date string ${text}`, 'match the format "date"');
  },

  hostname(text) {
    let host;
    try { ({host} = new NativeURL(`http://${text}`)); } catch { /* invalid: reported below */ }
    if (text === "" || host !== text) throw new Mismatch(`Error: Invalid hostname ${text}`, 'match the format "hostname"');
  },
};

// A Date is sent as its time value.
const DATE = {
  fits: isObject,
  text(value) {
    if (!isObject(value)) throw wrongKind("object", value, "be an object value");
    if (className(value) !== "Date") throw new Mismatch("Object must be an instance of Date", "be an instance of Date");
    return encode(dateGetTime(value));
  },
};

const COMPILERS = {
  __proto__: null,

  any: () => ({fits: () => true, text: value => encode(value)}),

  null: () => ({
    fits: value => value === null || value === undefined,
    text(value) {
      if (value !== null) throw wrongKind("null", value, "be a null value");
      return "null";
    },
  }),

  clone: () => ({fits: () => true, text: value => encodeMessage(value)}),

  // Not sent: a file in members/ uses the value.
  unsent: () => ({fits: () => true, text: () => "null"}),

  // Encoded by JSON.stringify(), including toJSON().
  json: () => ({fits: () => true, text: encodeAsJson}),

  string(schema) {
    const fits = value => typeof value === "string";
    const allowed = schema.enum && new NativeMap();
    if (allowed) each(schema.enum, value => { mapSet(allowed, value, true); });
    const choice = allowed && `be one of [${join(mapped(schema.enum, value => stringify(value)), ", ")}]`;
    const pattern = schema.pattern && new NativeRegExp(schema.pattern);
    const maxLength = schema.maxLength ?? Infinity;
    const format = schema.format && FORMATS[schema.format];
    return {
      fits,
      text(given) {
        if (typeof given !== "string") throw wrongKind("string", given, "be a string value");
        const value = schema.lowercase ? toLowerCase(given) : given;
        if (allowed && !mapHas(allowed, value)) throw new Mismatch(`Invalid enumeration value ${show(value)}`, choice);
        if (pattern && regExpExec(pattern, value) === null) {
          if (schema.refusal) throw new Mismatch(join(split(schema.refusal, "{}"), value), `match the format ${schema.format}`);
          throw new Mismatch(`String ${show(value)} must match /${pattern.source}/`, `match the pattern /${pattern.source}/`);
        }
        if (value.length > maxLength) {
          throw new Mismatch(`String ${show(value)} is too long (must be ${maxLength})`, `be shorter than ${maxLength}`);
        }
        if (format) format(value);
        return quote(value);
      },
    };
  },

  boolean: () => ({
    fits: value => typeof value === "boolean",
    text(value) {
      if (typeof value !== "boolean") throw wrongKind("boolean", value, "be a boolean");
      return value ? "true" : "false";
    },
  }),

  number: schema => ({
    fits: value => typeof value === "number",
    text(value) {
      if (typeof value !== "number") throw wrongKind("number", value, "be a number value");
      if (value - value !== 0) throw new Mismatch("NaN and infinity are not valid", "be a finite number");
      return inRange("Number", schema, value);
    },
  }),

  integer: schema => ({
    fits: isWholeNumber,
    text(value) {
      if (!isWholeNumber(value)) throw wrongKind("integer", value, "be an integer value");
      if (!isSafeInteger(value)) throw new Mismatch("Integer is out of range", "be a valid 32 bit signed integer");
      return inRange("Integer", schema, value);
    },
  }),

  function: () => ({
    fits: value => typeof value === "function",
    text(value) {
      if (typeof value !== "function") throw wrongKind("function", value, "be a function value");
      return encode(value);
    },
  }),

  array({items, minItems = 0, maxItems = Infinity}) {
    const item = compileType(items);
    const dropsInvalid = items.onError === "warn";
    return {
      fits: isArray,
      text(value) {
        if (!isArray(value)) throw wrongKind("array", value, "be an array value");
        let {length} = value;
        let text = "";
        for (let i = 0, all = length; i < all; i++) {
          try {
            const one = inside(`${i}`, item, dataOf(value, i));
            text += (text && ",") + one;
          } catch (error) {
            if (!dropsInvalid || !(error instanceof Mismatch)) throw error;
            length--;
          }
        }
        if (length < minItems) {
          throw new Mismatch(`Array requires at least ${minItems} items; you have ${length}`, `have at least ${minItems} items`);
        }
        if (length > maxItems) {
          throw new Mismatch(`Array requires at most ${maxItems} items; you have ${length}`, `have at most ${maxItems} items`);
        }
        return `[${text}]`;
      },
    };
  },

  object({properties = {}, additionalProperties, patternProperties, isInstanceOf}) {
    if (isInstanceOf !== undefined) return isInstanceOf === "Date" ? DATE : instance(isInstanceOf);
    const pattern = objectKeys(patternProperties ?? {})[0];
    const allowed = pattern === undefined ? null : new NativeRegExp(pattern);
    const others = pattern !== undefined ? compileType(patternProperties[pattern])
      : additionalProperties === undefined ? null : compileType(additionalProperties);
    // In alphabetical order, as in Firefox: it determines which of several errors is reported.
    const names = sort(objectKeys(properties));
    const members = mapped(names, name => ({name, key: stringify(name), optional: properties[name].optional, unsupported: properties[name].unsupported, type: compileType(properties[name])}));
    const known = create(null);
    each(names, name => { known[name] = true; });
    return {
      fits: isObject,
      text(value) {
        if (!isObject(value)) throw wrongKind("object", value, "be an object value");
        const kind = className(value);
        if (kind !== "Object") {
          throw new Mismatch(`Expected a plain JavaScript object, got a ${kind}`, "be a plain JavaScript object");
        }
        return others === null ? objectText(value, members, known) : dictionaryText(value, others, allowed);
      },
    };
  },
};

function objectText(object, members, known) {
  const values = create(null);
  let unexpected = null;
  const keys = objectKeys(object);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const property = getOwnPropertyDescriptor(object, key);
    if (!hasOwn(property, "value")) continue; // getters are never called
    if (key in known) values[key] = property.value;
    else append(unexpected ??= [], key);
  }
  let text = "";
  for (let i = 0; i < members.length; i++) {
    const {name, key, optional, unsupported, type} = members[i];
    const value = values[name];
    if (unsupported) {
      if (name in values) throw new Mismatch(`Property "${name}" is unsupported by Firefox`, `not contain an unsupported "${name}" property`);
      continue;
    }
    if ((value === undefined || value === null) && optional) continue;
    if (!(name in values)) throw new Mismatch(`Property "${name}" is required`, `contain the required "${name}" property`);
    text += `${text && ","}${key}:${inside(name, type, value)}`;
  }
  if (unexpected !== null) throw unexpectedProperties(unexpected);
  return `{${text}}`;
}

function instance(name) {
  return {
    fits: isObject,
    text(value) {
      if (!isObject(value)) throw wrongKind("object", value, "be an object value");
      if (className(value) !== name) throw new Mismatch(`Object must be an instance of ${name}`, `be an instance of ${name}`);
      return encode(value);
    },
  };
}

function dictionaryText(object, type, allowed) {
  const keys = objectKeys(object);
  let text = "";
  let unexpected = null;
  for (let i = 0; i < keys.length; i++) {
    const property = getOwnPropertyDescriptor(object, keys[i]);
    if (!hasOwn(property, "value")) continue;
    if (allowed !== null && regExpExec(allowed, keys[i]) === null) append(unexpected ??= [], keys[i]);
    else text += `${text && ","}${stringify(keyOf(keys[i]))}:${inside(keys[i], type, property.value)}`;
  }
  if (unexpected !== null) throw unexpectedProperties(unexpected);
  return `{${text}}`;
}

function unexpectedProperties(names) {
  if (names.length === 1) {
    return new Mismatch(`Unexpected property "${names[0]}"`, `not contain an unexpected "${names[0]}" property`);
  }
  const listed = join(sort(names), ", ");
  return new Mismatch(`Unexpected properties: ${listed}`, `not contain the unexpected properties [${listed}]`);
}

function inside(name, type, value) {
  try {
    return type.text(value);
  } catch (error) {
    throw error instanceof Mismatch ? error.inside(name) : error;
  }
}

function inRange(kind, {minimum = -Infinity, maximum = Infinity}, value) {
  if (value < minimum) throw new Mismatch(`${kind} ${value} is too small (must be at least ${minimum})`, `be at least ${minimum}`);
  if (value > maximum) throw new Mismatch(`${kind} ${value} is too big (must be at most ${maximum})`, `be no greater than ${maximum}`);
  return `${value + 0}`;
}

function choices(types) {
  return {
    fits(value) {
      for (let i = 0; i < types.length; i++) if (types[i].fits(value)) return true;
      return false;
    },
    text(value) {
      const wrong = new NativeMap();
      let first = null;
      for (let i = 0; i < types.length; i++) {
        try {
          return types[i].text(value);
        } catch (error) {
          if (!(error instanceof Mismatch)) throw error;
          first ??= error;
          mapSet(wrong, error.asChoice, error);
        }
      }
      if (mapSize(wrong) === 1) throw mapGet(wrong, first.asChoice);
      const shown = typeof value === "object" ? "" : ` ${show(value)}`;
      let others = "", last = "";
      mapForEach(wrong, (_, choice) => {
        if (last) others += `${last}, `;
        last = choice;
      });
      const either = `${others}or ${last}`;
      throw new Mismatch(`Value${shown} must either: ${either}`, `must either [${either}]`);
    },
  };
}
