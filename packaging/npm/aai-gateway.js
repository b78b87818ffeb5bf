#!/usr/bin/env node
// Starts the program, which is in a package of its own for each platform, and is otherwise
// not there: it inherits standard input, output and error, signals go on to it, and its end
// is ours.
'use strict';

const { spawn } = require('node:child_process');
const { basename } = require('node:path');
const { constants } = require('node:os');
const { isatty } = require('node:tty');
const { name, version, optionalDependencies } = require('./package.json');

const wanted = `${name}-${process.platform}-${process.arch}`;

function fail(text) {
  process.stderr.write(`aai-gateway: ${text}\n`);
  process.exit(1);
}

function program() {
  if (!optionalDependencies[wanted]) {
    fail(`there is no program for ${process.platform} ${process.arch}; there is one for: ` +
      Object.keys(optionalDependencies).map((p) => p.slice(name.length + 1).replace('-', ' ')).join(', '));
  }
  const file = process.platform === 'win32' ? 'aai-gateway.exe' : 'aai-gateway';
  try {
    return require.resolve(`${wanted}/bin/${file}`);
  } catch {
    fail(`the package ${wanted} is missing, which holds the program. npm leaves it out with ` +
      '--omit=optional, and where node_modules came from another system. To mend it: ' +
      `npm install --include=optional ${name}@${version} (with -g if it was installed so)`);
  }
}

// At a terminal Ctrl-C reaches the program itself; a second one would cut its ending short.
// (process.stdout is not touched: Node.js would make the pipe of others non-blocking.)
const atTerminal = [0, 1, 2].some((fd) => isatty(fd));
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) {
  const typed = signal === 'SIGINT' || signal === 'SIGQUIT';
  try {
    process.on(signal, () => { if (!(typed && atTerminal)) child.kill(signal); });
  } catch { /* this system has no such signal */ }
}

// The program serves by the name that it was called by: aai-gateway or axterminator.
const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit', argv0: basename(process.argv[1], '.js') });
child.on('error', (e) => fail(`${wanted} cannot be started: ${e.message}`));
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1000); // if that one does not end us
});
