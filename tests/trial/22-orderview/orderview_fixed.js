#!/usr/bin/env node
// orderview - print order totals; customers and products live in a separate store process
// which is asked over a unix socket with one JSON document per line.
'use strict';
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const { fork } = require('child_process');
const crypto = require('crypto');

function loadJson(name) {
  return JSON.parse(fs.readFileSync(path.join(__dirname, 'data', name), 'utf8'));
}

function lineReader(socket, onMessage) {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop();
    for (const p of parts) onMessage(JSON.parse(p));
  });
}

function runStore(socketPath) {
  const tables = { customers: new Map(), products: new Map() };
  for (const c of loadJson('customers.json')) tables.customers.set(c.id, c);
  for (const p of loadJson('products.json')) tables.products.set(p.id, p);
  const server = net.createServer((socket) => {
    lineReader(socket, (msg) => {
      const table = tables[msg.table];
      const rows = msg.ids.map((id) => table.get(id) || null);
      socket.write(JSON.stringify({ seq: msg.seq, rows }) + '\n');
    });
    socket.on('close', () => server.close());
  });
  server.listen(socketPath, () => process.send('ready'));
  process.on('disconnect', () => process.exit(0));
}

class StoreClient {
  constructor(socket) {
    this.socket = socket;
    this.seq = 0;
    this.waiting = new Map();
    lineReader(socket, (msg) => {
      const resolve = this.waiting.get(msg.seq);
      this.waiting.delete(msg.seq);
      resolve(msg.rows);
    });
  }

  static connect(socketPath) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(socketPath, () => resolve(new StoreClient(socket)));
      socket.on('error', reject);
    });
  }

  fetch(table, ids) {
    const seq = ++this.seq;
    return new Promise((resolve) => {
      this.waiting.set(seq, resolve);
      this.socket.write(JSON.stringify({ seq, table, ids }) + '\n');
    });
  }

  async get(table, id) {
    const rows = await this.fetch(table, [id]);
    return rows[0];
  }

  close() {
    this.socket.end();
  }
}

async function fetchAll(store, table, ids) {
  const wanted = [...new Set(ids)];
  const rows = await store.fetch(table, wanted);
  return new Map(wanted.map((id, i) => [id, rows[i]]));
}

function resolveOrder(customers, products, order) {
  const lines = order.items.map((item) => {
    const product = products.get(item.product);
    return { name: product.name, price: product.price, qty: item.qty };
  });
  return { id: order.id, customer: customers.get(order.customer), lines };
}

async function resolveOrders(store, orders) {
  const customers = await fetchAll(store, 'customers', orders.map((o) => o.customer));
  const products = await fetchAll(store, 'products', orders.flatMap((o) => o.items.map((i) => i.product)));
  return orders.map((order) => resolveOrder(customers, products, order));
}

function formatOrder(order) {
  let total = 0;
  const parts = order.lines.map((l) => {
    total += l.price * l.qty;
    return `${l.qty} x ${l.name.padEnd(24)} ${(l.price * l.qty / 100).toFixed(2).padStart(10)}`;
  });
  return { total, text: `#${order.id} ${order.customer.name} (${order.customer.city})\n  ${parts.join('\n  ')}\n` };
}

function report(orders) {
  const perCity = new Map();
  const hash = crypto.createHash('sha256');
  for (const order of orders) {
    const { total, text } = formatOrder(order);
    hash.update(text);
    perCity.set(order.customer.city, (perCity.get(order.customer.city) || 0) + total);
  }
  for (const [city, total] of [...perCity].sort((a, b) => b[1] - a[1])) {
    console.log(`${city.padEnd(12)} ${(total / 100).toFixed(2)}`);
  }
  console.log(`${orders.length} orders, sha256 ${hash.digest('hex').slice(0, 16)}`);
}

async function main() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'orderview-'));
  const socketPath = path.join(dir, 'store.sock');
  const child = fork(__filename, ['store', socketPath]);
  await new Promise((resolve) => child.once('message', resolve));
  const store = await StoreClient.connect(socketPath);
  const orders = await resolveOrders(store, loadJson('orders.json'));
  report(orders);
  store.close();
  child.disconnect();
  fs.rmSync(dir, { recursive: true, force: true });
}

if (process.argv[2] === 'store') runStore(process.argv[3]);
else main().catch((err) => { console.error('orderview:', err.message); process.exit(1); });
