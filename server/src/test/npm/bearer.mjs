// Passes requests on with an API key, for programs that send none. Arguments: address of the server, API key.
import http from 'node:http';

const [, , target, key] = process.argv;
const to = new URL(target);
const server = http.createServer((request, response) => {
  const passed = http.request({ host: to.hostname, port: to.port, path: request.url, method: request.method,
    headers: { ...request.headers, authorization: `Bearer ${key}` } }, answer => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  request.pipe(passed);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
