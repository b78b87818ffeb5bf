// Makes schemas as servers have them, with values and the verdict of a validator of others (ajv).
// Input: the schemas of pydantic and invopop/jsonschema, as lines of JSON. Output: made.json.
import { readFileSync, writeFileSync } from "node:fs"
import { z as z4 } from "zod"
import { z as z3 } from "zod/v3"
import { zodToJsonSchema } from "zod-to-json-schema"
import { Type } from "@sinclair/typebox"
import Ajv from "ajv"
import Ajv2020 from "ajv/dist/2020.js"

const cases = readFileSync(0, "utf8").split("\n").filter(Boolean).map(line => JSON.parse(line))
const add = (from, name, schema, valid, invalid) => cases.push({ from, name, schema, valid, invalid })

const both = (z, from, made) => {
  add(from, "tuple", made(z.object({ point: z.tuple([z.string(), z.number()]) })), [{ point: ["a", 1] }], [{ point: [1, "a"] }, { point: ["a"] }, {}])
  add(from, "rest", made(z.object({ row: z.tuple([z.string()]).rest(z.number()) })), [{ row: ["a", 1, 2] }, { row: ["a"] }], [{ row: ["a", "b"] }])
  add(from, "strict", made(z.strictObject ? z.strictObject({ a: z.string().optional() }) : z.object({ a: z.string().optional() }).strict()), [{}, { a: "b" }], [{ b: 1 }])
  add(from, "record", made(z.object({ env: z.record(z.string(), z.union([z.string(), z.number(), z.null()])) })), [{ env: { A: "1", B: 2, C: null } }], [{ env: { A: [] } }])
  add(from, "choice", made(z.object({ what: z.discriminatedUnion("kind", [z.object({ kind: z.literal("file"), path: z.string() }), z.object({ kind: z.literal("url"), url: z.string().url() })]) })),
    [{ what: { kind: "file", path: "/" } }, { what: { kind: "url", url: "https://a.example" } }], [{ what: { kind: "file" } }, { what: { kind: "other" } }])
  add(from, "limits", made(z.object({ n: z.number().int().positive(), m: z.number().min(0).max(1).nullable(), s: z.string().min(1).max(3).default("ab") })), [{ n: 1, m: null, s: "x" }, { n: 5, m: 0.5, s: "abc" }], [{ n: 0, m: 1, s: "x" }, { n: 1.5, m: 1, s: "x" }, { n: 1, m: 1, s: "abcd" }])
  const node = z.object({ name: z.string(), kids: z.array(z.lazy(() => node)).optional() })
  add(from, "tree", made(z.object({ root: node })), [{ root: { name: "a", kids: [{ name: "b", kids: [] }] } }], [{ root: { name: "a", kids: [{ kids: [] }] } }])
  add(from, "email", made(z.object({ to: z.string().email().regex(/^(?!\.)[a-z.]+@/) })), [{ to: "ann@a.example" }], [{ to: 1 }, { to: ".ann@a.example" }])
}
both(z3, "zod 3", s => zodToJsonSchema(s))
both(z4, "zod 4", s => z4.toJSONSchema(s, { io: "input" }))
add("zod 3", "named", zodToJsonSchema(z3.object({ a: z3.string() }), "Input"), [{ a: "b" }], [{ a: 1 }])
add("zod 3", "openapi", zodToJsonSchema(z3.object({ n: z3.number().gt(0), m: z3.string().nullable() }), { target: "openApi3" }), [{ n: 1, m: null }], [{ n: "1", m: "a" }])
add("zod 4", "draft-07", z4.toJSONSchema(z4.object({ p: z4.tuple([z4.string(), z4.number()]) }), { target: "draft-7" }), [{ p: ["a", 1] }], [{ p: [1, 1] }])
add("zod 4", "intersection", z4.toJSONSchema(z4.object({ both: z4.intersection(z4.object({ a: z4.string() }), z4.object({ b: z4.number() })) }), { io: "input" }), [{ both: { a: "x", b: 1 } }], [{ both: { a: "x" } }])
add("zod 4", "formats", z4.toJSONSchema(z4.object({ at: z4.iso.datetime(), id: z4.uuid(), ip: z4.ipv4(), b: z4.base64() })), [{ at: "2026-01-31T10:00:00Z", id: "123e4567-e89b-42d3-a456-426614174000", ip: "192.0.2.1", b: "YQ==" }], [{ at: 1, id: "x", ip: "x", b: "x" }])

add("TypeBox", "tree", Type.Object({ root: Type.Recursive(This => Type.Object({ id: Type.String(), nodes: Type.Array(This) }), { $id: "Node" }) }), [{ root: { id: "a", nodes: [{ id: "b", nodes: [] }] } }], [{ root: { id: "a", nodes: [{ id: 1, nodes: [] }] } }])
add("TypeBox", "tuple", Type.Object({ p: Type.Tuple([Type.String(), Type.Number()]) }), [{ p: ["a", 1] }], [{ p: ["a", "b"] }, { p: ["a"] }])
add("TypeBox", "composite", Type.Object({ c: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })], { unevaluatedProperties: false }) }), [{ c: { a: "x", b: 1 } }], [{ c: { a: "x", b: 1, d: 2 } }])
add("TypeBox", "enum", Type.Object({ e: Type.Union([Type.Literal("a"), Type.Literal(1), Type.Null()]), t: Type.TemplateLiteral("${0|1}-x") }), [{ e: "a", t: "0-x" }, { e: null, t: "1-x" }], [{ e: "b", t: "0-x" }, { e: 1, t: "2-x" }])
add("TypeBox", "record", Type.Object({ r: Type.Record(Type.RegExp(/^(?!_)/), Type.Number()) }, { additionalProperties: false }), [{ r: { a: 1 } }], [{ r: 1 }, { s: 1 }])

for (const c of cases) {
  const old = /draft-0[467]/.test(c.schema.$schema ?? "") || Array.isArray(c.schema.properties?.p?.items)
  const judge = new (old ? Ajv : Ajv2020)({ strict: false, validateFormats: false })
  const { $schema, ...schema } = c.schema
  let check = () => undefined // the validator refuses a schema of OpenAPI
  try { check = judge.compile(schema) } catch (e) { if (c.name !== "openapi") throw e }
  for (const value of c.valid) if (check(value) === false) throw new Error(`${c.from} ${c.name}: ${JSON.stringify(value)} is invalid`)
  for (const value of c.invalid) if (check(value) === true) throw new Error(`${c.from} ${c.name}: ${JSON.stringify(value)} is valid`)
}
writeFileSync("made.json", "[\n" + cases.map(c => JSON.stringify(c)).join(",\n") + "\n]\n")
