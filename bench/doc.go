// Package bench measures the program from outside, as a client meets it: the
// built binary over standard input and output, on a private D-Bus with a service
// of its own. Beside each figure stands a floor that was measured in the same run,
// in turns with it: a server that is nothing but the MCP SDK (peers/baresdk) and
// the bare D-Bus call. What a computer is worth at the moment is then in both.
//
//	go test -run '^$' -bench . ./bench
//
// BenchmarkGateway prints a table with what was aimed at. A figure that misses its
// aim is printed as missed and fails nothing: times are no matter for a test. The
// other benchmarks are of single parts, in the form that benchstat reads.
//
// There is no program code in this package. Its tests may import any room of the
// house.
package bench
