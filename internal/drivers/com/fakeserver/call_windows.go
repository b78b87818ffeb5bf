package fakeserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A call is one call of a member.
type call struct {
	*server
	object *object
	args   []variant // named ones first, then the others from the last one
	named  []int32
	result *variant
	info   *excepInfo
	wrong  *uint32
}

func (c *call) arg(i int) *variant { return &c.args[len(c.args)-1-i] }

func (c *call) give(v variant) uintptr {
	if c.result != nil {
		*c.result = v
	}
	return 0
}

func (c *call) run(name string) uintptr {
	need := map[string]int{"Echo": 1, "TypeOf": 1, "Fail": 1, "FailWith": 1, "Sleep": 1, "Add": 2, "Busy": 1, "Execute": 1}[name]
	if len(c.args) < need {
		return 0x8002000E
	}
	c.object.mu.Lock()
	prop, set := c.object.props[name]
	c.object.mu.Unlock()
	switch name {
	case "Name", "Visible", "Owner":
		if set {
			return c.give(c.copied(&prop))
		}
		if name == "Name" {
			return c.give(c.text(c.object.name))
		}
		return c.give(variant{vt: vtBool})
	case "Echo":
		return c.give(c.copied(c.arg(0)))
	case "TypeOf":
		return c.give(variant{vt: vtI4, value: uint64(c.arg(0).vt)})
	case "Text":
		return c.give(c.text(strings.Repeat("x", int(uint32(c.arg(0).value)))))
	case "Add":
		return c.add()
	case "Greet":
		return c.greet()
	case "Child":
		return c.give(variant{vt: vtDispatch, value: uint64(uintptr(unsafe.Pointer(c.newObject("Child"))))})
	case "Execute":
		return c.execute()
	}
	return c.misbehave(name)
}

func (c *call) add() uintptr {
	for i := range 2 {
		if c.arg(i).vt != vtI4 {
			if c.wrong != nil {
				*c.wrong = uint32(len(c.args) - 1 - i)
			}
			return 0x80020005
		}
	}
	return c.give(variant{vt: vtI4, value: uint64(uint32(c.arg(0).value) + uint32(c.arg(1).value))})
}

func (c *call) greet() uintptr {
	values := []string{"missing", "Hello", "1"}
	for i := range c.args {
		at := len(c.args) - 1 - i
		if i < len(c.named) {
			at = int(c.named[i])
		}
		switch v := &c.args[i]; v.vt {
		case vtString:
			values[at] = v.text()
		case vtI4:
			values[at] = fmt.Sprint(int32(v.value))
		case vtError:
		default:
			values[at] = fmt.Sprintf("type %d", v.vt)
		}
	}
	return c.give(c.text(fmt.Sprintf("%s, %s! x%s", values[1], values[0], values[2])))
}

// execute answers as an app that implements the AAI protocol.
func (c *call) execute() uintptr {
	var request struct {
		Tool      string         `json:"tool"`
		Params    map[string]any `json:"params"`
		RequestID string         `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(c.arg(0).text()), &request); err != nil {
		return 0x80070057
	}
	reply := map[string]any{"version": "1.0", "request_id": request.RequestID, "status": "success", "result": map[string]any{"tool": request.Tool, "params": request.Params}}
	if request.Tool == "fail" {
		reply["status"], reply["error"] = "error", map[string]any{"code": "TIMEOUT", "message": "too slow"}
	}
	text, _ := json.Marshal(reply)
	return c.give(c.text(string(text)))
}

// misbehave runs the members that fail, hang or end the process.
func (c *call) misbehave(name string) uintptr {
	switch name {
	case "Fail":
		if c.info != nil {
			c.info.source, c.info.description, c.info.scode = c.string("Test App"), c.string(c.arg(0).text()), 0x800A03EC
		}
		return 0x80020009
	case "FailWith":
		return uintptr(uint32(c.arg(0).value))
	case "Busy":
		c.object.mu.Lock()
		c.object.busy = int(int32(c.arg(0).value))
		c.object.mu.Unlock()
	case "Sleep":
		time.Sleep(time.Duration(uint32(c.arg(0).value)) * time.Millisecond)
	case "Crash":
		_ = windows.TerminateProcess(windows.CurrentProcess(), 3)
	case "Quit":
		close(c.ended)
	}
	return 0
}
