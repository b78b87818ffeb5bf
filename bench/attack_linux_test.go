package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// These variables make this binary an attacking agent, with an address and a token, or a program
// that uses a share of processor time.
const (
	attackVariable = "AAI_BENCH_ATTACK"
	burnVariable   = "AAI_BENCH_BURN"
)

// attackTools lists the attacks with their maximum of concurrent calls.
var attackTools = []struct {
	name  string
	width int
	do    func(a *attacker)
}{
	{"secrets", 1, (*attacker).secrets},
	{"unknown apps", 200, (*attacker).unknown},
	{"a hung app", 70, (*attacker).hung},
	{"wrong frames", 4, (*attacker).wrong},
	{"failing lookups", 8, (*attacker).lookup},
}

// attackIfStarted does not return in the process of an attacker. That ends with its input, and
// then prints how often it began each attack.
func attackIfStarted() {
	var a attacker
	given := os.Getenv(attackVariable)
	if given == "" {
		return
	}
	if err := json.Unmarshal([]byte(given), &a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	a.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 300}}
	begun := make([]atomic.Int64, len(attackTools))
	for i, tool := range attackTools {
		for range tool.width {
			go func() {
				for {
					begun[i].Add(1)
					tool.do(&a)
				}
			}()
		}
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	told := make(map[string]int64)
	for i, tool := range attackTools {
		told[tool.name] = begun[i].Load()
	}
	told["answers"] = a.answers.Load()
	_ = json.NewEncoder(os.Stdout).Encode(told)
	os.Exit(0)
}

// attacker is one agent on many connections.
type attacker struct {
	Address, Token string

	client  *http.Client
	answers atomic.Int64 // of any kind
}

// call makes a tool call of 2026-07-28, and ignores the result.
func (a *attacker) call(tool, args string) {
	a.post("tools/call", tool, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+modern(`{"name":"`+tool+`","arguments":`+args+`}`)+`}`)
}

func (a *attacker) post(method, name, body string) {
	r, err := http.NewRequest(http.MethodPost, a.Address, strings.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+a.Token)
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	r.Header.Set("Mcp-Name", name)
	response, err := a.client.Do(r)
	if err != nil {
		time.Sleep(time.Millisecond) // a refused connection must not cause a busy loop
		return
	}
	if _, err := io.Copy(io.Discard, response.Body); err == nil {
		a.answers.Add(1)
	}
	_ = response.Body.Close()
}

// secrets makes a refused call with a secret argument of one megabyte, which needs escaping.
func (a *attacker) secrets() {
	const mix = "<\\\"\u00e9\u2028 &\t"
	secret, _ := json.Marshal(strings.Repeat(mix, 1_000_000/len(mix)))
	a.call("aai_exec", `{"app":"no.such.app","tool":"x","args":{"password":`+string(secret)+`}}`)
}

// unknown calls an unknown app, with names of 5,000 bytes.
func (a *attacker) unknown() {
	name := strings.Repeat("a", 5000-8) + strconv.Itoa(10_000_000+rand.IntN(1_000_000))
	a.call("aai_exec", `{"app":"`+name+`","tool":"`+name+`","args":{}}`)
}

func (a *attacker) hung() {
	a.call("aai_exec", `{"app":"`+slowApp+`","tool":"sleep","args":{"ms":25000}}`)
}

// wrong sends an invalid request, in one of several ways.
func (a *attacker) wrong() {
	switch rand.IntN(4) {
	case 0:
		a.post("tools/call", "aai_exec", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`)
	case 1:
		a.post("tools/call", "aai_exec", strings.Repeat("[", 100_000))
	case 2:
		a.post("no/such", "x", `{"jsonrpc":"2.0","id":{"x":[1,2]},"method":"no/such","params":[]}`)
	case 3: // a body that never arrives
		address, err := url.Parse(a.Address)
		if err != nil {
			return
		}
		conn, err := net.Dial("tcp", address.Host)
		if err != nil {
			time.Sleep(time.Millisecond)
			return
		}
		_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{\"jsonrpc\"", address.Host, a.Token)
		time.Sleep(50 * time.Millisecond)
		_ = conn.Close()
	}
}

// lookup requests a local site without a server.
func (a *attacker) lookup() {
	a.call("web_discover", fmt.Sprintf(`{"url":"http://127.0.0.1:1/%d"}`, rand.Int()))
}

// burnIfStarted does not return in a process that only uses processor time: the share in the
// variable, where 1 is a whole processor, until its input ends.
func burnIfStarted() {
	share, err := strconv.ParseFloat(os.Getenv(burnVariable), 64)
	if err != nil {
		return
	}
	var burners sync.WaitGroup
	var ended atomic.Bool
	const slice = 20 * time.Millisecond
	for ; share > 0; share-- {
		busy := time.Duration(min(share, 1) * float64(slice))
		burners.Go(func() {
			for !ended.Load() {
				for begun := time.Now(); time.Since(begun) < busy; {
				}
				time.Sleep(slice - busy)
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	ended.Store(true)
	burners.Wait()
	os.Exit(0)
}
