// Package bench measures the program from outside, as a client meets it: the
// built binary over standard input and output, on a private D-Bus with a service
// of its own, or on private desktops with real apps. Beside each figure stands a
// floor that was measured in the same run, in turns with it: a server that is
// nothing but the MCP SDK (peers/baresdk), the bare D-Bus call, the app's own event.
// What a computer is worth at the moment is then in both. For the desktop, other
// people's programs that do the same stand beside as well (peers/package.json,
// which scripts/need-peers installs, xdotool, pyatspi, ImageMagick); one that cannot
// run is told as such. For the door, servers made with other SDKs stand beside
// (peers/mcpgo, peers/typescript), and a gateway whose one app answers by itself
// (echo) stands for ours.
//
//	go test -run '^$' -bench . ./bench
//	go test -run '^$' -bench Desktop/Click ./bench
//	go test -run '^$' -bench Doors ./bench
//
// BenchmarkGateway, BenchmarkDoors, BenchmarkDesktop, BenchmarkJournal and
// BenchmarkCompareCommits each print a table with what was aimed at; BenchmarkCompareCommits holds the
// working tree against the commit in AAI_BENCH_BASE. BenchmarkStages prints where the
// time of a call goes, in microseconds. With AAI_BENCH_ROUNDS=1 each runs to its end in
// the shortest time, as scripts/bench-short has it. A figure that misses its aim is printed as missed and fails nothing:
// times are no matter for a test. But what did nothing is never counted as fast:
// each click is looked up in the app's own count, and a click that did not land ends
// the run. The other benchmarks are of single parts, in the form that benchstat
// reads.
//
// There is no program code in this package itself. Its tests may import any room of
// the house.
package bench
