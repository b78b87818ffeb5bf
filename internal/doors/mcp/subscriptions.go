package mcp

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// maxSubscriptions is how many resources one client may follow at once.
const maxSubscriptions = 100

// subscriptions knows who follows which resources. A change of one is gathered for its
// debounce time; then it is read on behalf of each follower, and those are told
// for whom it is not what it was. Safe for concurrent use.
type subscriptions struct {
	// read returns what the resource is to the caller, as a hash.
	read func(o *listedResource, values map[string]string, caller aai.Caller) (fingerprint, error)
	// notify tells the clients for whom the resource is due; see take.
	notify func(uri string)

	mu    sync.Mutex
	byURI map[string]*subscribedResource // by URI
}

// A fingerprint tells one content from another. The zero one is of nothing.
type fingerprint [sha256.Size]byte

// A followed resource has a follower at least.
type subscribedResource struct {
	uri         string
	offer       *listedResource
	values      map[string]string
	stop        func() // the watching; nil before it has begun
	debounce    *time.Timer
	refreshing  sync.Mutex // one look at a time
	subscribers map[*mcp.ServerSession]*subscriber
}

// A follower is a client that follows a resource.
type subscriber struct {
	caller aai.Caller
	last   fingerprint
	due    bool // it is to be told
}

// add lets a client follow a resource, which is watched before it is read: no
// change is lost between.
func (f *subscriptions) add(session *mcp.ServerSession, uri string, o *listedResource, values map[string]string, caller aai.Caller) error {
	if o.Watch == nil {
		return invalid("%s: %v", aai.CleanLabel(uri, 100), errNotSubscribable)
	}
	entry, first, err := f.register(session, uri, o, values, caller)
	if err != nil || entry == nil {
		return err
	}
	if first {
		stop, err := o.Watch(values, func() { f.changed(entry) })
		if err != nil {
			f.remove(session, uri)
			return readError(uri, err)
		}
		f.watched(entry, stop)
	}
	now, err := f.read(o, values, caller)
	if err != nil {
		f.remove(session, uri)
		return readError(uri, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if follower := entry.subscribers[session]; follower != nil {
		follower.last = now
	}
	return nil
}

// register notes the follower. It returns nil if the client follows the resource
// already, and whether nobody did.
func (f *subscriptions) register(session *mcp.ServerSession, uri string, o *listedResource, values map[string]string, caller aai.Caller) (entry *subscribedResource, first bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := 0
	for _, other := range f.byURI {
		if other.subscribers[session] != nil {
			count++
		}
	}
	entry = f.byURI[uri]
	switch {
	case entry != nil && entry.subscribers[session] != nil:
		return nil, false, nil
	case count >= maxSubscriptions:
		return nil, false, invalid("%d resources are followed already; unsubscribe from one first", maxSubscriptions)
	case entry == nil:
		entry = &subscribedResource{uri: uri, offer: o, values: values, subscribers: make(map[*mcp.ServerSession]*subscriber)}
		f.byURI[uri] = entry
		first = true
	}
	entry.subscribers[session] = &subscriber{caller: caller}
	return entry, first, nil
}

// watched notes how the watching is ended, or ends it if nobody follows any more.
func (f *subscriptions) watched(entry *subscribedResource, stop func()) {
	f.mu.Lock()
	gone := f.byURI[entry.uri] != entry
	entry.stop = stop
	f.mu.Unlock()
	if gone {
		stop()
	}
}

// remove lets a client follow a resource no longer.
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
		if entry.debounce != nil {
			entry.debounce.Stop()
		}
	}
	f.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// removeAll is remove for everything that the client follows.
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

// changed gathers changes. It does not block.
func (f *subscriptions) changed(entry *subscribedResource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if entry.debounce == nil && len(entry.subscribers) > 0 {
		entry.debounce = time.AfterFunc(entry.offer.Debounce, func() { f.refresh(entry) })
	}
}

// refresh reads the resource and tells those for whom it has changed. What they may
// no longer read has changed, too.
func (f *subscriptions) refresh(entry *subscribedResource) {
	entry.refreshing.Lock()
	defer entry.refreshing.Unlock()
	f.mu.Lock()
	entry.debounce = nil // what changes from here on needs another look
	callers := make(map[*mcp.ServerSession]aai.Caller, len(entry.subscribers))
	for session, follower := range entry.subscribers {
		callers[session] = follower.caller
	}
	f.mu.Unlock()
	news := false
	for session, caller := range callers {
		now, err := f.read(entry.offer, entry.values, caller)
		if err != nil {
			now = sha256.Sum256([]byte(aai.AsError(err).Code))
		}
		f.mu.Lock()
		if follower := entry.subscribers[session]; follower != nil && follower.last != now {
			follower.last, follower.due, news = now, true, true
		}
		f.mu.Unlock()
	}
	if news {
		f.notify(entry.uri)
	}
}

// takeDue reports whether the client is to be told of the resource, once. Of what
// nobody follows here the door does not know, and others may tell.
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
			// Nobody may be asked because a file has changed.
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

// subscribe lets a client follow a resource, which it must be able to read.
func (d *Door) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	o, values := d.findResource(uri)
	if o == nil {
		return mcp.ResourceNotFoundError(uri)
	}
	d.clientStateOf(req.Session) // sees to the end
	return d.subscriptions.add(req.Session, uri, o, values, d.caller(ctx, req.Session, req.ClientInfo()))
}

func (d *Door) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	d.subscriptions.remove(req.Session, req.Params.URI)
	return nil
}

// filterListen takes out of a subscription what there is not: the client is told
// what it follows, and an error would cost it the rest.
func (d *Door) filterListen(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		listen, ok := req.(*mcp.SubscriptionsListenRequest)
		if !ok || listen.Params == nil || listen.Params.Notifications == nil {
			return next(ctx, method, req)
		}
		params, wanted := *listen.Params, *listen.Params.Notifications
		wanted.ResourceSubscriptions = nil
		for _, uri := range listen.Params.Notifications.ResourceSubscriptions {
			if o, _ := d.findResource(uri); o != nil && o.Watch != nil {
				wanted.ResourceSubscriptions = append(wanted.ResourceSubscriptions, uri)
			}
		}
		params.Notifications = &wanted
		narrowed := *listen
		narrowed.Params = &params
		return next(ctx, method, &narrowed)
	}
}

// filterNotifications keeps news from those for whom it is none: the SDK tells everybody who
// follows a resource, and of every change of the apps also those who are shown few of them.
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
