import json
import mailbox

from rating import Rater

rater = Rater("mail.keras", json.load(open("words.json")))
box = mailbox.mbox("inbox.mbox")
texts = [str(mail.get_payload()) for mail in box]
spam = [text for text in texts if rater.rate(text) > 0.9]
print(len(spam))
