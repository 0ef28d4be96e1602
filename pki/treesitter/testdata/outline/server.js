#!/usr/bin/env node
"use strict";
const fs = require("fs");
var count = 0;

// Starts the thing.
function start(port, { host = "localhost" } = {}) {
  var local = 1;
  function inner() {}
}

function* ids() { yield 1; }

class Server extends Base {
  #secret = 1;
  static of(x) { return new Server(x); }
  constructor(x) { super(); }
  async *stream() {}
  get port() { return 1; }
  handle = (req) => {};
}

const stop = () => {};
const named = function other() {};

exports.run = function (x) { return x; };
module.exports.stop = () => {};
Server.prototype.close = function () {};

const api = {
  list(req) {},
  create: function (req) {},
  remove: async (req) => {},
  limit: 3,
};

export default class {}
export { start };
