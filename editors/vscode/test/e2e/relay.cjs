// The program of an agent that tests play: what it is sent over a connection goes to its client, and back. What it does
// itself, it does where agents work.
const fs = require('node:fs');
const net = require('node:net');
const readline = require('node:readline');

const socket = net.connect(Number(process.argv[2]), '127.0.0.1');
socket.on('error', e => { process.stderr.write(`${e.message}\n`); process.exit(1); });
socket.on('close', () => process.exit(0));
process.stdin.on('data', d => socket.write(d)).on('end', () => process.exit(0));
readline.createInterface({ input: socket }).on('line', line => {
  const m = JSON.parse(line);
  switch (m.do) {
    case 'write': fs.writeFileSync(m.path, m.text); socket.write('{"did":"write"}\n'); break;
    case 'complain': process.stderr.write(m.text, () => socket.write('{"did":"complain"}\n')); break;
    case 'exit': process.exit(m.code);
    default: process.stdout.write(`${line}\n`);
  }
});
