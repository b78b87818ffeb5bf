package child

import (
	"bufio"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/dop251/goja"
)

const (
	// softMemory is the limit above which the collector works harder.
	softMemory = 192 << 20
	// maxStack limits Go recursion in the machine, such as in its parser.
	maxStack = 64 << 20
	// maxDepth limits nested function calls.
	maxDepth = 4000
	// threads is the number of concurrent Go threads: the script's and the collector's.
	threads = 2
)

// Run is the main function of a script process: it reads a Job from in, runs it, writes messages to out
// and returns the exit code. If the parent is gone, it exits at once.
func Run(in io.Reader, out io.Writer) int {
	runtime.GOMAXPROCS(threads)
	debug.SetMemoryLimit(softMemory)
	debug.SetMaxStack(maxStack)
	_, _ = time.Now().Local().Zone() // load the time zone file before confinement
	read := bufio.NewReader(in)
	var job Job
	if err := Read(read, &job); err != nil {
		return 1
	}
	if err := confine(job.CPU); err != nil {
		_ = Write(out, Message{Done: &Done{Failure: &Failure{Message: "the process could not be confined: " + err.Error()}}})
		return 1
	}
	replies := make(chan *Reply)
	go func() {
		for {
			reply := new(Reply)
			if Read(read, reply) != nil {
				os.Exit(1) // the parent is gone
			}
			replies <- reply
		}
	}()
	m := &machine{vm: goja.New(), job: job, out: out, replies: replies}
	if Write(out, Message{Done: m.run()}) != nil {
		return 1
	}
	return 0
}
