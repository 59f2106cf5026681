// Whether the server acknowledges in time what the page has sent. A process that is suspended, or stuck, keeps its
// connection, so the browser does not notice.

const SILENT_TIME = 2000; // milliseconds without an acknowledgement
const LOST_TIME = 15_000;

// buffered(): the bytes that were not sent yet; a large frame takes time. onChange(): `silent` has changed. onLost(): it
// has been silent for too long.
export class AnswerWatch {
  constructor({buffered, onChange, onLost}) {
    this.silent = false;
    this.buffered = buffered;
    this.onChange = onChange;
    this.onLost = onLost;
    this.timer = null;
  }

  // Something was sent that the server has to acknowledge.
  start() {
    if (this.timer === null) this.wait(SILENT_TIME, () => this.onSilent());
  }

  // The server has acknowledged something. isWaiting: not everything.
  answered(isWaiting) {
    this.stop();
    if (isWaiting) this.start();
  }

  // Expect nothing.
  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.setSilent(false);
  }

  wait(time, then) {
    const before = this.buffered();
    this.timer = setTimeout(() => {
      if (this.buffered() < before) this.wait(time, then); // it is being sent
      else then();
    }, time);
  }

  onSilent() {
    this.wait(LOST_TIME - SILENT_TIME, () => this.onLost());
    this.setSilent(true);
  }

  setSilent(silent) {
    if (silent === this.silent) return;
    this.silent = silent;
    this.onChange();
  }
}
