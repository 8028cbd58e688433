"""Text to tags: learns from titles with tags, and tags new ones.

    tags.py [MODEL]

MODEL is the file to write, by default one in the folder of temporary files.
"""

import os
import sys
import tempfile

import slide

path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(tempfile.gettempdir(), "tags.slide")

titles = ["How to knead bread dough", "Bread without an oven", "Pasta dough by hand", "Tuning a piano", "A song for two voices",
          "Piano and voice", "Roses in dry soil", "Soil for tomatoes", "Tomatoes on bread"] * 20
tags = [["baking"], ["baking"], ["cooking"], ["music"], ["music", "singing"],
        ["music", "singing"], ["garden"], ["garden"], ["baking", "garden"]] * 20

classifier = slide.Classifier(text__min_count=1, layer__0__size=32, verbose=False).fit(titles, tags)
classifier.save(path, force=True)

for title in ["Fresh bread", "Songs for the piano", "Which soil for roses?"]:
    print(title, "->", ", ".join(classifier.top_k([title], k=2)[0]))
print("written:", path)
