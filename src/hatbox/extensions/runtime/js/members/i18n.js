// i18n: messages come with the boot settings; locales.py resolves their placeholders.

host => {
  const {hasOwn} = Object;
  const {isArray} = Array;
  const {messages, uiLanguage} = host.data.i18n ?? {messages: {}, uiLanguage: "en-US"};

  return {
    members: {
      getMessage(messageName, substitutions, {args}) {
        const name = messageName.toLowerCase();
        if (!hasOwn(messages, name)) return "";
        // As in Firefox: "null" for an absent argument, and nothing for undefined.
        const isUndefined = args.length > 1 && args[1] === undefined;
        const values = isArray(substitutions) ? substitutions : isUndefined ? [] : [substitutions];
        return messages[name].replace(/\$(?:([1-9][0-9]*)|(\$+))/g, (_, number, dollars) => {
          if (number === undefined) return dollars; // of several dollars, all but the first
          const value = values[number - 1];
          return value === undefined ? "" : String(value);
        });
      },
      getUILanguage: () => uiLanguage,
    },
  };
}
