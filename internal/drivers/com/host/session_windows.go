package host

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

// A session runs the steps of one request. Only the apartment's thread uses it, but for progress.
type session struct {
	*library
	vars    map[string]held
	objects []unsafe.Pointer // to release at the end
	cut     bool             // a list was cut

	mu      sync.Mutex
	current com.Failure // the step that runs, as if it had failed
}

// A held is the value of a variable: an object, or plain data.
type held struct {
	object unsafe.Pointer
	value  com.Variant
}

// progress returns the failure to report if the current step does not end.
func (s *session) progress() com.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *session) note(change func(*com.Failure)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.current)
}

func (s *session) releaseAll() {
	for _, object := range slices.Backward(s.objects) {
		comcall.Release(object)
	}
	s.objects = nil
}

// keep releases the object at the end of the session.
func (s *session) keep(object unsafe.Pointer) unsafe.Pointer {
	if object != nil {
		s.objects = append(s.objects, object)
	}
	return object
}

// run runs the steps.
func (s *session) run(r *com.Request) *com.Reply {
	reply := &com.Reply{}
	for i := range r.Steps {
		step := &r.Steps[i]
		s.note(func(f *com.Failure) { f.Step = i })
		result, has, f := s.step(step)
		if f != nil {
			f.Step, f.Begun = i, s.progress().Begun
			return &com.Reply{Failure: f}
		}
		if step.Var != "" {
			s.vars[step.Var] = result
		}
		if has {
			reply.Last = s.describeHeld(result)
		}
	}
	for _, name := range r.Return {
		reply.Values = append(reply.Values, s.describeHeld(s.vars[name]))
	}
	reply.Cut = s.cut
	return reply
}

func (s *session) describeHeld(h held) com.Variant {
	if h.object != nil {
		return com.Variant{VT: com.VTDispatch, Text: s.typeName(h.object)}
	}
	return h.value
}

// step runs one step. has reports that it has a result for the answer.
func (s *session) step(step *com.Step) (result held, has bool, f *com.Failure) {
	if step.Action == com.Create {
		result.object, f = s.create(step)
		return result, false, f
	}
	object := s.vars[step.Object].object
	if object == nil {
		return result, false, &com.Failure{Message: fmt.Sprintf("%q is no object, but a value", step.Object)}
	}
	switch step.Action {
	case com.Call:
		result, f = s.invoke(object, step, flagMethod|flagGet)
	case com.Get:
		if step.Member == "" {
			result.value, f = s.members(held{object: object}, step.Properties)
			break
		}
		result, f = s.invoke(object, step, flagGet)
	case com.List:
		result.value, f = s.list(object, step.Properties)
	case com.Set:
		_, f = s.put(object, step)
		return result, false, f
	}
	return result, true, f
}

// create creates an object of a class, or attaches to the running one.
func (s *session) create(step *com.Step) (unsafe.Pointer, *com.Failure) {
	id, hr := s.class(step.ProgID)
	if comcall.Failed(hr) {
		return nil, &com.Failure{HRESULT: hr}
	}
	if !step.Programs && runsPrograms(id) {
		return nil, &com.Failure{Denied: true}
	}
	var object unsafe.Pointer
	if step.Running {
		var unknown unsafe.Pointer
		if hr := comcall.Call(s.activeObject, addressOf(&id), 0, addressOf(&unknown)); comcall.Failed(hr) {
			return nil, &com.Failure{HRESULT: hr}
		}
		object = comcall.Query(unknown, iidDispatch())
		comcall.Release(unknown)
		if object == nil {
			return nil, &com.Failure{Message: "the running app has no automation interface"}
		}
		return s.keep(object), nil
	}
	const inProcess, localServer = 1, 4
	hr = s.retry(func() uint32 {
		return comcall.Call(s.createInstance, addressOf(&id), 0, inProcess|localServer, addressOf(iidDispatch()), addressOf(&object))
	})
	if comcall.Failed(hr) {
		return nil, &com.Failure{HRESULT: hr}
	}
	return s.keep(object), nil
}

func (l *library) class(progID string) (id windows.GUID, hr uint32) {
	name, err := syscall.UTF16PtrFromString(progID)
	if err != nil {
		return id, unknownName
	}
	return id, comcall.Call(l.classID, addressOf(name), addressOf(&id))
}

// runsPrograms reports whether a class is on the list of those that run programs, whatever its name.
func runsPrograms(id windows.GUID) bool {
	for _, class := range aai.ProgramClasses() {
		if strings.EqualFold(class, id.String()) {
			return true
		}
	}
	return false
}

// retry repeats a call as long as the app is busy. The session's deadline ends it.
func (s *session) retry(run func() uint32) uint32 {
	for wait := uint32(20); ; wait = min(2*wait, 500) {
		hr := run()
		s.note(func(f *com.Failure) {
			if f.HRESULT = 0; com.IsBusy(hr) {
				f.HRESULT = hr
			}
		})
		if !com.IsBusy(hr) {
			return hr
		}
		s.sleep(wait)
	}
}

// sleep dispatches messages for a time.
func (s *session) sleep(millis uint32) {
	never, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		time.Sleep(time.Duration(millis) * time.Millisecond)
		return
	}
	s.pump(never, millis)
	_ = windows.CloseHandle(never)
}

// invoke calls a method or reads a property.
func (s *session) invoke(object unsafe.Pointer, step *com.Step, flags uint16) (held, *com.Failure) {
	found, missing, hr := ids(object, step.Member, step.Names)
	if hr != 0 {
		return held{}, &com.Failure{HRESULT: hr, Name: missing}
	}
	args, f := s.arguments(step.Args)
	defer s.free(args)
	if f != nil {
		return held{}, f
	}
	return s.do(&invocation{object: object, id: found[0], flags: flags, args: args, named: found[1:]})
}

// do runs an invocation and takes its result.
func (s *session) do(i *invocation) (held, *com.Failure) {
	var result comcall.Variant
	var info excepInfo
	var argument int
	begun := s.progress().Begun
	s.note(func(f *com.Failure) { f.Begun = true })
	hr := s.retry(func() uint32 {
		var hr uint32
		hr, info, argument = i.run(&result)
		s.note(func(f *com.Failure) { f.Begun = begun || !com.IsBusy(hr) })
		return hr
	})
	if comcall.Failed(hr) {
		f := &com.Failure{}
		s.fillFailure(f, hr, &info, argument)
		return held{}, f
	}
	return s.take(&result)
}

// take returns the value of a result, and frees or keeps it.
func (s *session) take(m *comcall.Variant) (held, *com.Failure) {
	if vtOf(m) == com.VTDispatch || vtOf(m) == com.VTUnknown {
		object := m.At()
		if object == nil {
			return held{value: com.Variant{VT: com.VTNull}}, nil
		}
		s.keep(object)
		if d := s.keep(comcall.Query(object, iidDispatch())); d != nil {
			return held{object: d}, nil
		}
		return held{value: com.Variant{VT: vtOf(m), Text: "object"}}, nil
	}
	defer s.Clear(m)
	v, err := s.read(m)
	if err != nil {
		return held{}, &com.Failure{Message: err.Error()}
	}
	if v.IsObject() { // it was behind a reference, which is gone
		v.Text = "object"
	}
	return held{value: v}, nil
}

// arguments makes the VARIANTs of operands. The caller frees them, also after a failure.
func (s *session) arguments(operands []com.Operand) ([]comcall.Variant, *com.Failure) {
	args := make([]comcall.Variant, 0, len(operands))
	for i := range operands {
		m, err := s.operand(&operands[i])
		args = append(args, m)
		if err != nil {
			return args, &com.Failure{Message: err.Error(), Argument: i + 1}
		}
	}
	return args, nil
}

// operand makes the VARIANT of a value or variable. It owns a reference to an object.
func (s *session) operand(o *com.Operand) (comcall.Variant, error) {
	v := &o.Value
	if o.Var != "" {
		h := s.vars[o.Var]
		if h.object != nil {
			comcall.Hold(h.object)
			m := comcall.Variant{VT: uint16(com.VTDispatch)}
			m.SetPointer(h.object)
			return m, nil
		}
		v = &h.value
		if v.IsObject() || v.Names != nil {
			return comcall.Variant{}, fmt.Errorf("the variable %q cannot be an argument", o.Var)
		}
	}
	return s.write(v)
}

func (s *session) free(args []comcall.Variant) {
	for i := range args {
		s.Clear(&args[i])
	}
}

// put sets a property. An object is put by reference first, since its default property may be meant otherwise.
func (s *session) put(object unsafe.Pointer, step *com.Step) (held, *com.Failure) {
	found, missing, hr := ids(object, step.Member, nil)
	if hr != 0 {
		return held{}, &com.Failure{HRESULT: hr, Name: missing}
	}
	args, f := s.arguments(append(slices.Clone(step.Args), *step.Value))
	defer s.free(args)
	if f != nil {
		return held{}, f
	}
	i := &invocation{object: object, id: found[0], flags: flagPut, args: args, named: []int32{idPut}}
	if vtOf(&args[len(args)-1]) == com.VTDispatch {
		i.flags = flagPutRef
		if result, f := s.do(i); f == nil || f.HRESULT != memberNotFound && f.HRESULT != typeMismatch {
			return result, f
		}
		i.flags = flagPut
	}
	return s.do(i)
}
