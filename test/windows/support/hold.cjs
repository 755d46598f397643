// Has a file open, shared with nobody, as scanners do, until a second file is gone.
const { closeSync, constants, existsSync, openSync } = require('node:fs')

const UV_FS_O_EXLOCK = 0x1000_0000
const [, , path = '', until = ''] = process.argv
const file = openSync(path, constants.O_RDWR | UV_FS_O_EXLOCK)
console.log(process.pid)
const timer = setInterval(() => {
  if (existsSync(until)) return
  closeSync(file)
  clearInterval(timer)
}, 5)
