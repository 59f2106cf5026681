// i18n: the texts, which came with what the host sent at the start. What each says is made in Python (locales.py).

host => {
  const {hasOwn} = Object;
  const {isArray} = Array;
  const {messages, uiLanguage} = host.data.i18n ?? {messages: {}, uiLanguage: "en-US"};

  return {
    members: {
      getMessage(messageName, substitutions, {args}) {
        const name = messageName.toLowerCase();
        if (!hasOwn(messages, name)) return "";
        // Firefox says "null" for what was left out, and nothing for what is undefined.
        const nothing = args.length > 1 && args[1] === undefined;
        const given = isArray(substitutions) ? substitutions : nothing ? [] : [substitutions];
        return messages[name].replace(/\$(?:([1-9][0-9]*)|(\$+))/g, (_, number, dollars) => {
          if (number === undefined) return dollars; // of several dollars, all but the first
          const value = given[number - 1];
          return value === undefined ? "" : String(value);
        });
      },
      getUILanguage: () => uiLanguage,
    },
  };
}
