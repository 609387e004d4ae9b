/**
 * The smallest client of a Fairest server: it opens a room, prints its code, and leaves again.
 *
 *     node client.ts ws://127.0.0.1:8765        Node 22.18 or later runs TypeScript as it is; so do Deno and Bun
 */
import type { FromClient, FromServer, Subprotocol } from "./fairest.d.ts";

declare const process: { readonly argv: readonly string[] };

const subprotocol: Subprotocol = "fairest.v1";
const socket = new WebSocket(process.argv[2] ?? "ws://127.0.0.1:8765", subprotocol);

socket.onopen = () => send({ type: "hello", client: "client.ts" });
socket.onmessage = (frame) => answer(JSON.parse(frame.data) as FromServer);
socket.onclose = (end) => {
  if (end.code !== 1000) throw new Error(`The connection was closed with ${end.code}.`);
};

function send(message: FromClient): void {
  socket.send(JSON.stringify(message));
}

function answer(message: FromServer): void {
  switch (message.type) {
    case "welcome":
      return send({ type: "create", options: { rules: "classic", best_of: 3 } });
    case "snapshot":
      console.log(`${message.room}: seat ${message.seat}, ${message.scene.phase}`);
      return send({ type: "leave" });
    case "left":
      return socket.close(1000);
    case "refused":
    case "error":
      throw new Error(`${message.code}: ${message.sentence}`);
  }
}
