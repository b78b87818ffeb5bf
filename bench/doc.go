// Package bench measures the built program from outside: over standard input and output,
// on a private D-Bus with a test service, or on private desktops with real apps. Each
// figure has a baseline, measured alternately in the same run, so that the speed of the
// computer affects both: a server with only the MCP SDK (peers/baresdk), the bare D-Bus
// call, or the app's own event. The desktop benchmarks compare similar programs too
// (peers/package.json, installed by scripts/need-peers, xdotool, pyatspi, ImageMagick) and
// report those that cannot run. The door benchmarks compare servers made with other SDKs
// (peers/mcpgo, peers/typescript) with a gateway that has one builtin app (echo).
//
//	go test -run '^$' -bench . ./bench
//	go test -run '^$' -bench Desktop/Click ./bench
//	go test -run '^$' -bench Doors ./bench
//
// BenchmarkGateway, BenchmarkDoors, BenchmarkDesktop, BenchmarkJournal and
// BenchmarkCompareCommits print tables with their targets; BenchmarkCompareCommits compares
// the working tree with the commit in AAI_BENCH_BASE. BenchmarkStages prints the time of
// each stage of a call, in microseconds. AAI_BENCH_ROUNDS=1 makes each run as short as
// possible (scripts/bench-short). A missed target is printed and does not fail the run.
// A call without effect never counts: each click is verified in the app's own count, and a
// missing click ends the run. The other benchmarks measure single parts for benchstat.
//
// The package has no program code. Its tests may import any package.
package bench
