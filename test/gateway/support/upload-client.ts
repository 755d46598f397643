/**
 * The gateway on a real disk, and a device that uploads byte by byte what can be resumed.
 * @module
 */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { serveGateway, type ServeGatewayOptions } from '../../support/gateway.ts'
import { RawClient, type RawResponse } from '../../support/raw-http.ts'

export type UploadGateway = Awaited<ReturnType<typeof serveUploads>>

/** Serves until the test ends, with one phone paired. */
export async function serveUploads(t: TestContext, options: ServeGatewayOptions = {}) {
  const gateway = await serveGateway(t, options)
  gateway.devices.onCredentialGone((deviceId) => gateway.staging.drop(deviceId))

  /** Opens a connection and sends a head; `fields` are whole lines. */
  async function begin(line: string, ...fields: readonly string[]): Promise<RawClient> {
    const client = await RawClient.open(t, gateway.port)
    const login = fields.some((field) => /^authorization:/i.test(field))
      ? []
      : [`Authorization: ${gateway.authorization}`]
    return client.send([`${line} HTTP/1.1`, 'Host: box', ...login, ...fields, '', ''].join('\r\n'))
  }

  /** A whole request; its body is latin1. */
  async function ask(line: string, fields: readonly string[], body = ''): Promise<RawResponse> {
    const isSized = body === '' && fields.some((field) => /^content-length|^transfer/i.test(field))
    const length = isSized ? [] : [`Content-Length: ${body.length}`]
    const client = await begin(line, ...length, ...fields)
    const method = line.split(' ', 1)[0]
    const answer = await client.send(body).read(method)
    client.close()
    return answer
  }

  /** Begins an upload with its first bytes. @returns The path of the upload resource. */
  async function create(first = '', more: readonly string[] = [], name = 'a.bin'): Promise<string> {
    const answer = await ask(`PUT /file/${name}`, ['Upload-Complete: ?0', ...more], first)
    assert.equal(answer.status, 201, answer.body)
    const { location } = answer.headers
    assert.ok(location !== undefined)
    return location
  }

  /** Appends from an offset on. */
  function patch(
    path: string,
    offset: number,
    body: string,
    more: readonly string[] = ['Upload-Complete: ?1'],
  ): Promise<RawResponse> {
    const fields = ['Content-Type: application/partial-upload', `Upload-Offset: ${offset}`]
    return ask(`PATCH ${path}`, [...fields, ...more], body)
  }

  return { ...gateway, begin, ask, create, patch }
}

/** Names what is staged, to make it the item. @returns The status of the answer. */
export async function commit({ phone }: Pick<UploadGateway, 'phone'>, dataName: string) {
  const body = JSON.stringify({ type: 'File', dataName })
  return (await phone.fetch('/Sync.json', { method: 'PUT', body })).status
}
