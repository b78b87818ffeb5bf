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
	// softMemory is from where the collector works for it that the process stays small.
	softMemory = 192 << 20
	// maxStack is of the machine's own recursion, such as in its parser.
	maxStack = 64 << 20
	// maxDepth is how many calls of functions may be within each other.
	maxDepth = 4000
	// threads is how many of Go's may work at once: the script's, and the collector's.
	threads = 2
)

// Run is the whole life of the process: it reads a Job, runs it and says how that ended. It
// ends the process when the parent is gone.
func Run(in io.Reader, out io.Writer) int {
	runtime.GOMAXPROCS(threads)
	debug.SetMemoryLimit(softMemory)
	debug.SetMaxStack(maxStack)
	_, _ = time.Now().Local().Zone() // what it needs a file for
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
				os.Exit(1) // nobody wants to know any more
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
