import json
import mailbox

from rating import Rater

rater = Rater("mail.keras", json.load(open("words.json")))
box = mailbox.mbox("inbox.mbox")
texts = [str(mail.get_payload()) for mail in box]
spam = [text for text, rate in zip(texts, rater.rate_all(texts)) if rate > 0.9]
print(len(spam))
