// Wine has no TCP_KEEPIDLE, without which `fetch` fails.
require('node:net').Socket.prototype.setKeepAlive = function setKeepAlive() {
  return this
}
