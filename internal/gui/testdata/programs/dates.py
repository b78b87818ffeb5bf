import sys
from PyQt6.QtCore import QDate, QDateTime, QTime
from PyQt6.QtWidgets import *
app = QApplication([])
window = QWidget(windowTitle="Dates")
form = QFormLayout(window)
day, popup = QDateEdit(QDate(2027, 1, 2)), QDateEdit(QDate(2027, 1, 2), calendarPopup=True)
hour, both = QTimeEdit(QTime(8, 30)), QDateTimeEdit(QDateTime(QDate(2027, 1, 2), QTime(8, 30)))
month = QCalendarWidget(selectedDate=QDate(2027, 1, 2))
for name, w, f in ("Departure", day, "dd.MM.yyyy"), ("Return", popup, "yyyy-MM-dd"), ("Hour", hour, "HH:mm"), ("Moment", both, "yyyy-MM-dd HH:mm"):
    w.setDisplayFormat(f)
    form.addRow(name, w)
form.addRow("Month", month)
def tell(*_):
    with open(sys.argv[1], "w") as f:
        f.write(" ".join([day.date().toString("yyyy-MM-dd"), popup.date().toString("yyyy-MM-dd"), hour.time().toString("HH:mm"), both.dateTime().toString("yyyy-MM-ddTHH:mm"), month.selectedDate().toString("yyyy-MM-dd")]))
for w in day, popup, hour, both: w.dateTimeChanged.connect(tell)
month.selectionChanged.connect(tell)
tell()
window.show()
app.exec()
