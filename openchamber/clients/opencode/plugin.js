// OpenChamber's plugin for OpenCode: tells a session what it is owed, on every message and inside the loop after a
// compaction. Plain JavaScript without imports, since an import that cannot be installed breaks every prompt.
// Nothing here may fail or delay a send for long: a server that is down, slow or confused costs at most 300 ms.

const MESSAGE_MS = 300 // what a message may wait, unless the options give it more patience
const COMPACTION_MS = 4000
const TOOLS_MS = 1000
const TOOL_MS = 20000
const OURS = /^msg_[0-9a-f]{12}openchamber/

export default async ({ client, directory }, options) => {
  const server = String(options?.url ?? "").replace(/\/$/, "")
  const token = String(options?.token ?? "")
  const patience = Number(options?.patience ?? MESSAGE_MS)
  const waiting = new Map() // message id -> delivery that rides on it, until the message is seen stored
  const parents = new Map() // session id -> parent id, "" for a session of its own

  async function ask(path, body, milliseconds) {
    const response = await fetch(server + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer " + token },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(Math.max(1, milliseconds)),
    })
    if (!response.ok) throw new Error(path + " answered " + response.status)
    return response.status === 204 ? null : await response.json()
  }

  // What may be offered just now; when the server does not answer, what it answered last.
  async function offered() {
    // A file for each directory: what one project is offered says nothing about another.
    const file = options?.cache ? Bun.file(options.cache + "-" + (await hash("tools", directory)) + ".json") : undefined
    try {
      const query = new URLSearchParams({ directory })
      const response = await fetch(server + "/api/context/tools?" + query, {
        headers: { authorization: "Bearer " + token },
        signal: AbortSignal.timeout(TOOLS_MS),
      })
      if (!response.ok) throw new Error("tools answered " + response.status)
      const { tools } = await response.json()
      if (file) await Bun.write(file, JSON.stringify(tools))
      return tools
    } catch (error) {
      return file ? await file.json().catch(() => []) : []
    }
  }

  function definition(tool) {
    return {
      description: tool.description,
      args: tool.schema.properties ?? {},
      async execute(args, context) {
        const given = { client: "opencode", session: context.sessionID, directory: context.directory, agent: context.agent }
        const response = await fetch(server + tool.path, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer " + token },
          body: JSON.stringify({ ...args, ...given }),
          signal: AbortSignal.any([context.abort, AbortSignal.timeout(TOOL_MS)].filter(Boolean)),
        })
        const answer = await response.json()
        if (!response.ok) throw new Error(answer.error?.message ?? "the server answered " + response.status)
        return answer.text
      },
    }
  }

  const confirm = (delivery, message, accepted) =>
    ask("/api/context/confirm", { delivery, message_id: message, accepted }, 5000).catch(() => {})

  async function parent(session) {
    if (!parents.has(session)) {
      const found = await client.session.get({ path: { id: session } })
      parents.set(session, found.data?.parentID ?? "")
    }
    return parents.get(session)
  }

  const ownText = (parts) =>
    parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text).join("\n\n").replaceAll("\0", "\ufffd")

  async function hash(role, text) {
    if (!text) return ""
    const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(role + "\n" + text))
    return Array.from(new Uint8Array(bytes).slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("")
  }

  async function trace({ info, parts }) {
    const compaction = parts.find((part) => part.type === "compaction")
    const carrier = parts.map((part) => part.metadata?.openchamber).find((found) => found?.items)
    const summary = info.role === "assistant" && info.summary === true
    return {
      id: info.id,
      role: info.role,
      created: info.time?.created ?? 0,
      hash: await hash(info.role, ownText(parts)),
      ...(info.parentID ? { parent: info.parentID } : {}),
      ...(carrier ? { carrier } : {}),
      ...(compaction ? { compaction: compaction.tail_start_id ? { tail_start: compaction.tail_start_id } : {} } : {}),
      ...(summary ? { summary: true, done: Boolean(info.time?.completed) } : {}),
      // What somebody stopped the model still sees; an answer that failed it does not.
      ...(info.error ? { error: info.error.name === "MessageAbortedError" ? "stopped" : true } : {}),
    }
  }

  // What only the conversation knows: read here, since the server must not call back into a hook that awaits it.
  async function conversation(session) {
    const [found, listed] = await Promise.all([
      client.session.get({ path: { id: session } }),
      client.session.messages({ path: { id: session } }),
    ])
    const messages = listed.data ?? []
    const byId = new Map(messages.map((message) => [message.info.id, message]))
    const mirror = found.data?.metadata?.openchamber ?? {}
    const pinned = Array.isArray(mirror.context_obligatory_messages) ? mirror.context_obligatory_messages : []
    const last = messages.findLast((message) => message.info.role === "user" && ownText(message.parts))
    return {
      last: last?.info,
      sent: {
        messages: await Promise.all(messages.map(trace)),
        ...(found.data?.revert ? { reverted_from: found.data.revert.messageID } : {}),
        pinned: pinned.filter((pin) => typeof pin?.id === "string").map((pin) => ({
          id: pin.id,
          role: pin.role,
          createdAt: pin.createdAt,
          ...(byId.has(pin.id) ? { text: ownText(byId.get(pin.id).parts) } : {}),
        })),
        mirror,
      },
    }
  }

  const modelName = (model) => (model?.providerID && (model.modelID ?? model.id) ? model.providerID + "/" + (model.modelID ?? model.id) : "")

  async function onMessage(input, output) {
    const started = Date.now()
    const left = () => patience - (Date.now() - started)
    const message = output.message.id
    if (OURS.test(message) || output.parts.some((part) => part.metadata?.openchamber)) return
    const above = await parent(input.sessionID)
    const question = {
      client: "opencode",
      session: input.sessionID,
      directory,
      event: above ? "subagent" : "prompt",
      agent: input.agent ?? output.message.agent ?? "",
      model: modelName(input.model ?? output.message.model),
      variant: input.variant ?? "",
      ...(above ? { parent: above } : {}),
      message_id: message,
      deadline_ms: Math.max(1, left() - 30),
    }
    let answer = await ask("/api/context/claim", question, left())
    if (answer.conversation_wanted) {
      const { sent } = await conversation(input.sessionID)
      answer = await ask("/api/context/claim", { ...question, conversation: sent, sequence: answer.sequence }, left())
    }
    if (!answer.delivery) return
    if (left() < 0) return void confirm(answer.delivery, message, false)
    const first = output.parts[0]
    waiting.set(message, answer.delivery)
    // Parts sort by id: one character below the first part's last puts the block before the user's words.
    output.parts.unshift({
      id: first ? first.id.slice(0, -1) + "-" : "prt_" + message.slice(4),
      sessionID: input.sessionID,
      messageID: message,
      type: "text",
      synthetic: true,
      text: answer.text,
      metadata: answer.metadata,
    })
  }

  // Awaited before the first model call after an automatic compaction, so what is stored here is in that call.
  async function onCompaction(input) {
    const started = Date.now()
    if (await parent(input.sessionID)) return
    const question = { client: "opencode", session: input.sessionID, directory, event: "compact", deadline_ms: 2000 }
    // First how far the server is: what it tells while the conversation is read here, it must not tell again.
    const { sequence } = await ask("/api/context/claim", question, COMPACTION_MS)
    const { last, sent } = await conversation(input.sessionID)
    const agent = last?.agent ?? input.agent ?? ""
    const model = last?.model ?? input.model
    const answer = await ask(
      "/api/context/claim",
      {
        ...question,
        agent,
        model: modelName(model),
        variant: last?.model?.variant ?? last?.variant ?? "",
        conversation: sent,
        sequence,
      },
      COMPACTION_MS,
    )
    if (!answer.delivery) return
    if (Date.now() - started > answer.valid_ms) return void confirm(answer.delivery, answer.message_id, false)
    const [providerID, ...name] = answer.model.split("/")
    const stored = await client.session.prompt({
      path: { id: input.sessionID },
      body: {
        messageID: answer.message_id,
        noReply: true,
        ...(answer.agent ? { agent: answer.agent } : {}),
        ...(providerID ? { model: { providerID, modelID: name.join("/") } } : {}),
        ...(answer.variant ? { variant: answer.variant } : {}),
        parts: [{ type: "text", synthetic: true, text: answer.text, metadata: answer.metadata }],
      },
    })
    await confirm(answer.delivery, answer.message_id, !stored.error)
  }

  async function quietly(work) {
    try {
      await work()
    } catch (error) {
      if (options?.debug) console.error("openchamber:", error)
    }
  }

  const tools = await offered()
  return {
    tool: Object.fromEntries(tools.map((tool) => [tool.name, definition(tool)])),
    // Plain properties would all be required; the server knows which are.
    "tool.definition": (input, output) =>
      quietly(async () => {
        const schema = tools.find((tool) => tool.name === input.toolID)?.schema
        if (schema) output.jsonSchema = { additionalProperties: false, ...schema }
      }),
    "chat.message": (input, output) => quietly(() => onMessage(input, output)),
    "experimental.compaction.autocontinue": (input) => quietly(() => onCompaction(input)),
    event: ({ event }) =>
      quietly(async () => {
        const info = event.type === "message.updated" ? event.properties?.info : undefined
        const delivery = info && waiting.get(info.id)
        if (!delivery) return
        waiting.delete(info.id)
        await confirm(delivery, info.id, true)
      }),
  }
}
