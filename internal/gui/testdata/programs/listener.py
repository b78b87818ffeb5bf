# listener is another accessibility client, like a screen reader: it registers for all events, and
# so programs report each key to the registry.
import sys, gi
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi
heard = Atspi.EventListener.new(lambda event: None)
for kind in ("object", "window", "focus"):
    heard.register(kind)
open(sys.argv[1], "w").close()
Atspi.event_main()
