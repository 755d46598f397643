import { build } from 'esbuild'
for (const [n, contents] of [['220', "export { createGateway, openStation } from './src/gateway.ts'"],['113',"export { createGateway } from './src/gateway.ts'"]]) {
  const r = await build({ stdin:{contents, resolveDir: process.cwd()}, bundle:true, minify:true, format:'esm', platform:'node', write:false, logLevel:'error', external:['@nats-io/*'] })
  console.log(n, r.outputFiles[0].contents.length)
}
