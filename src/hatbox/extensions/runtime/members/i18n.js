// i18n: the texts that the host found for the user's languages (Locales.for_runtime() in hatbox/extensions/locales.py).

host => {
  const {messages = {}, uiLanguage = "en-US", acceptLanguages = ["en-US"]} = host.data.i18n ?? {};
  const texts = new Map(Object.entries(messages));

  // `$1`, `$2`, … are what was given; of several dollars all but the first are left.
  function substituted(text, given) {
    return text.replace(/\$(?:([1-9][0-9]*)|(\$+))/g, (_, number, dollars) =>
      number === undefined ? dollars : number - 1 < given.length ? String(given[number - 1]) : "");
  }

  return {
    always: true,
    members: {
      getMessage(name, substitutions = []) {
        if (typeof name !== "string") throw new Error("Incorrect argument types for i18n.getMessage.");
        const text = texts.get(name.toLowerCase());
        return text === undefined ? "" : substituted(text, Array.isArray(substitutions) ? substitutions : [substitutions]);
      },
      getUILanguage: () => uiLanguage,
      getAcceptLanguages: async () => [...acceptLanguages],
    },
  };
}
