// A server that stands in for Stripe, with a page on which a card is played.
import { createServer } from "node:http";

const FEE = 60;

/** Listens on this port until it is closed. */
export function playCards(port) {
  const sessions = new Map();
  // No two of them are ever called the same.
  const began = Date.now();
  const server = createServer(async (request, response) => {
    const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString("utf8"));
    const { pathname } = new URL(request.url, "http://localhost");
    const id = pathname.split("/").at(-1);
    const json = (value) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (request.method === "POST" && pathname === "/v1/checkout/sessions") {
      const amounts = [...body].filter(([name]) => name.endsWith("[unit_amount]")).map(([, value]) => Number(value));
      const session = { id: `cs_${began}_${sessions.size + 1}`, amount: amounts.reduce((a, b) => a + b, 0), back: body.get("success_url"), isPaid: false };
      sessions.set(session.id, session);
      return json({ id: session.id, status: "open", url: `http://localhost:${port}/pay/${session.id}` });
    }
    if (pathname.startsWith("/pay/")) {
      const session = sessions.get(id);
      if (request.method === "GET") return response.setHeader("content-type", "text/html").end(`<!doctype html><html lang="en"><title>Pay</title><main><h1>Your card</h1><form method="post"><button>Pay</button></form></main>`);
      session.isPaid = true;
      return response.writeHead(303, { location: session.back }).end();
    }
    if (pathname.startsWith("/v1/checkout/sessions/")) {
      const { isPaid } = sessions.get(id);
      return json({ id, status: isPaid ? "complete" : "open", payment_intent: isPaid ? `pi_${id}` : null });
    }
    if (pathname.startsWith("/v1/payment_intents/")) {
      const { amount } = sessions.get(id.slice(3));
      const [created, currency] = [Math.floor(Date.now() / 1000), "usd"];
      const latest_charge = { id: `ch_${id}`, created, disputed: false, balance_transaction: { fee: FEE, currency } };
      return json({ id, status: "succeeded", amount, amount_received: amount, currency, created, latest_charge });
    }
    return json({ data: [], has_more: false });
  });
  return new Promise((started) => server.listen(port, "127.0.0.1", () => started(server)));
}
