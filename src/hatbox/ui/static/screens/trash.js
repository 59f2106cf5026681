// Trash and backups: can I get it back?

import {BackupSection} from "../backup_section.js";
import {h} from "../dom.js";
import {header} from "../screen_parts.js";
import {TrashSection} from "../trash_section.js";

export const title = "Trash and backups";

export function mount(root) {
  const scroller = h("div", {class: "scroll"});
  const trash = new TrashSection(scroller);
  const backups = new BackupSection();
  scroller.append(h("div", {class: "measure panel-gap"}, trash.el, backups.el));
  root.append(h("div", {class: "main-in narrow"}, header(title), scroller));
  trash.list.paint();
  return {
    unmount() {
      trash.destroy();
      backups.destroy();
    },
  };
}
