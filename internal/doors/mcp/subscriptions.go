package mcp

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

const (
	// maxSubscriptions limits the resources that one client may subscribe to.
	maxSubscriptions = 100
	// subscriberShare bounds the work for a resource with more than manySubscribers: the time between two notifications is
	// at least this for each of them.
	subscriberShare = 3 * time.Millisecond
	manySubscribers = 33
)

// subscriptions holds the subscribers of resources. It collects changes of a resource for its
// debounce time. Then it reads the resource for each subscriber and notifies those with a
// different content. It is safe for concurrent use.
type subscriptions struct {
	// read returns a hash of the resource's content for the caller, or of a part where each change is news.
	read func(o *listedResource, values map[string]string, caller aai.Caller) (fingerprint, error)
	// notify notifies the clients for whom the resource is due; see takeDue.
	notify func(uri string)

	mu    sync.Mutex
	byURI map[string]*subscribedResource
}

// A fingerprint is a hash of a content. The zero value stands for none.
type fingerprint [sha256.Size]byte

// A subscribedResource is a resource with at least one subscriber.
type subscribedResource struct {
	uri         string
	offer       *listedResource
	values      map[string]string
	stop        func() // ends the watching; nil before it has begun
	debounce    *time.Timer
	recheck     *time.Timer // for subscribers with failed readings
	refreshed   time.Time   // of the last refresh
	refreshing  sync.Mutex  // one refresh at a time
	subscribers map[*mcp.ServerSession]*subscriber
}

// A subscriber is a client that is subscribed to a resource.
type subscriber struct {
	caller aai.Caller
	last   fingerprint
	due    bool      // it has to be notified
	read   time.Time // of the last reading for the subscriber
	failed bool      // that reading failed; the subscriber was notified once
}

// add subscribes a client to a resource. It watches a resource of which the content is compared before it reads it, so
// that no change in between is lost. It reads another one first, since to watch it may connect to an app, which the
// caller must be allowed to.
func (f *subscriptions) add(session *mcp.ServerSession, uri string, o *listedResource, values map[string]string, caller aai.Caller) error {
	if o.Watch == nil {
		return invalid("%s: %v", aai.CleanLabel(uri, 100), errNotSubscribable)
	}
	entry, first, err := f.register(session, uri, o, values, caller)
	if err == nil && entry == nil {
		if _, err = f.read(o, values, caller); err != nil { // it may have lost the right since
			return readError(uri, err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if o.IsEachChangeNews {
		if _, err := f.read(o, values, caller); err != nil {
			f.remove(session, uri)
			return readError(uri, err)
		}
	}
	if first {
		stop, err := o.Watch(values, func() { f.changed(entry) })
		if err != nil {
			f.remove(session, uri)
			return readError(uri, err)
		}
		f.watched(entry, stop)
	}
	now := fingerprint{}
	if !o.IsEachChangeNews {
		if now, err = f.read(o, values, caller); err != nil {
			f.remove(session, uri)
			return readError(uri, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if follower := entry.subscribers[session]; follower != nil {
		follower.last, follower.read = now, time.Now()
	}
	return nil
}

// register adds the subscriber. It returns nil if the client is subscribed already, and
// reports whether it is the first subscriber.
func (f *subscriptions) register(session *mcp.ServerSession, uri string, o *listedResource, values map[string]string, caller aai.Caller) (entry *subscribedResource, first bool, err error) {
	count := f.count(session)
	f.mu.Lock()
	defer f.mu.Unlock()
	entry = f.byURI[uri]
	switch {
	case entry != nil && entry.subscribers[session] != nil:
		return nil, false, nil
	case count >= maxSubscriptions:
		return nil, false, invalid("%d resources are subscribed already; unsubscribe from one first", maxSubscriptions)
	case entry == nil:
		entry = &subscribedResource{uri: uri, offer: o, values: values, subscribers: make(map[*mcp.ServerSession]*subscriber)}
		f.byURI[uri] = entry
		first = true
	}
	entry.subscribers[session] = &subscriber{caller: caller}
	return entry, first, nil
}

// count returns the number of resources to which the client is subscribed.
func (f *subscriptions) count(session *mcp.ServerSession) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, other := range f.byURI {
		if other.subscribers[session] != nil {
			n++
		}
	}
	return n
}

// watched stores the function that ends the watching, or calls it if there are no
// subscribers any more.
func (f *subscriptions) watched(entry *subscribedResource, stop func()) {
	f.mu.Lock()
	gone := f.byURI[entry.uri] != entry
	entry.stop = stop
	f.mu.Unlock()
	if gone {
		stop()
	}
}

// remove ends a client's subscription to a resource.
func (f *subscriptions) remove(session *mcp.ServerSession, uri string) {
	f.mu.Lock()
	entry := f.byURI[uri]
	if entry == nil || entry.subscribers[session] == nil {
		f.mu.Unlock()
		return
	}
	delete(entry.subscribers, session)
	var stop func()
	if len(entry.subscribers) == 0 {
		delete(f.byURI, uri)
		stop = entry.stop
		for _, timer := range []*time.Timer{entry.debounce, entry.recheck} {
			if timer != nil {
				timer.Stop()
			}
		}
	}
	f.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// removeAll ends all subscriptions of a client.
func (f *subscriptions) removeAll(session *mcp.ServerSession) {
	f.mu.Lock()
	var uris []string
	for uri, entry := range f.byURI {
		if entry.subscribers[session] != nil {
			uris = append(uris, uri)
		}
	}
	f.mu.Unlock()
	for _, uri := range uris {
		f.remove(session, uri)
	}
}

// changed schedules a refresh: at once, or when the debounce time since the last one is over. It does not block.
func (f *subscriptions) changed(entry *subscribedResource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if entry.debounce == nil && len(entry.subscribers) > 0 {
		pause := entry.offer.Debounce
		if n := len(entry.subscribers); n > manySubscribers {
			pause = max(pause, time.Duration(n)*subscriberShare)
		}
		entry.debounce = time.AfterFunc(max(0, time.Until(entry.refreshed.Add(pause))), func() { f.refresh(entry) })
	}
}

// refresh reads the resource and notifies the subscribers for whom it has changed. A
// resource that a subscriber may no longer read has changed, too.
func (f *subscriptions) refresh(entry *subscribedResource) {
	entry.refreshing.Lock()
	defer entry.refreshing.Unlock()
	f.mu.Lock()
	entry.debounce, entry.refreshed = nil, time.Now() // later changes need another refresh
	if entry.recheck != nil {
		entry.recheck.Stop()
		entry.recheck = nil
	}
	callers := make(map[*mcp.ServerSession]aai.Caller, len(entry.subscribers))
	for session, follower := range entry.subscribers {
		callers[session] = follower.caller
	}
	f.mu.Unlock()
	news := false
	for session, caller := range callers {
		known, due := f.markNews(entry, session)
		if news = news || due; known {
			continue
		}
		now, err := f.read(entry.offer, entry.values, caller)
		news = f.markRead(entry, session, now, err) || news
	}
	if news {
		f.notify(entry.uri)
	}
}

// permissionInterval is how long a subscriber that could read a resource is notified of it without another reading.
const permissionInterval = 10 * time.Second

// markRead stores a reading for the subscriber, and reports whether the resource became due. A subscriber with failed
// readings is notified once, and is not read for before permissionInterval: each of its readings is a refused call.
func (f *subscriptions) markRead(entry *subscribedResource, session *mcp.ServerSession, now fingerprint, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	follower := entry.subscribers[session]
	if follower == nil {
		return false
	}
	follower.read = time.Now()
	due := err == nil && (follower.last != now || follower.failed || entry.offer.IsEachChangeNews) || err != nil && !follower.failed
	if err == nil {
		follower.last = now
	}
	follower.failed = err != nil
	follower.due = follower.due || due
	return due
}

// markNews makes the resource due for a subscriber without reading it. It reports known as false if it must be read: to
// compare it, or to check that the subscriber still may.
func (f *subscriptions) markNews(entry *subscribedResource, session *mcp.ServerSession) (known, due bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	follower := entry.subscribers[session]
	recent := follower != nil && time.Since(follower.read) < permissionInterval
	switch {
	case recent && follower.failed:
		if entry.recheck == nil {
			entry.recheck = time.AfterFunc(time.Until(follower.read.Add(permissionInterval)), func() { f.refresh(entry) })
		}
		return true, false
	case !recent || !entry.offer.IsEachChangeNews:
		return false, false
	}
	follower.due = true
	return true, true
}

// takeDue reports, once, whether to notify the client of the resource. It also reports true
// for a resource without subscribers here: another component may notify of it.
func (f *subscriptions) takeDue(session *mcp.ServerSession, uri string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	entry := f.byURI[uri]
	if entry == nil {
		return true
	}
	follower := entry.subscribers[session]
	if follower == nil || !follower.due {
		return false
	}
	follower.due = false
	return true
}

func (d *Door) newSubscriptions() *subscriptions {
	return &subscriptions{
		byURI: make(map[string]*subscribedResource),
		read: func(o *listedResource, values map[string]string, caller aai.Caller) (fingerprint, error) {
			// A changed file must not cause a question to the person.
			if o.IsEachChangeNews && o.Check != nil {
				checked := *o
				checked.Call = o.Check
				o = &checked
			}
			c, err := d.contents(context.Background(), d.nonInteractive(), o, values, caller)
			if err != nil {
				return fingerprint{}, err
			}
			return sha256.Sum256(append([]byte(c.MIMEType+"\x00"+c.Text), c.Blob...)), nil
		},
		notify: func(uri string) {
			_ = d.server.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri}) // never fails
		},
	}
}

// subscribe subscribes a client to a resource, which it must be able to read.
func (d *Door) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	o, values := d.findResource(uri)
	if o == nil {
		return mcp.ResourceNotFoundError(uri)
	}
	d.clientStateOf(req.Session) // removes the subscriptions when the session ends
	return d.subscriptions.add(req.Session, uri, o, values, d.caller(ctx, req.Session, req.ClientInfo()))
}

func (d *Door) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	d.subscriptions.remove(req.Session, req.Params.URI)
	return nil
}

// filterNotifications drops notifications without news for a client. The SDK notifies all subscribers
// of a resource, and on every change of the apps also clients whose list of entries stays the same.
func (d *Door) filterNotifications(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		session, ok := req.GetSession().(*mcp.ServerSession)
		if !ok {
			return next(ctx, method, req)
		}
		switch news := req.GetParams().(type) {
		case *mcp.ResourceUpdatedNotificationParams:
			if news != nil && !d.subscriptions.takeDue(session, news.URI) {
				return nil, nil
			}
		case *mcp.ToolListChangedParams:
			if !d.isNews(session) {
				return nil, nil
			}
		}
		return next(ctx, method, req)
	}
}
